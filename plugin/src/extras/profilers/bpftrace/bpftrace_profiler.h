// SPDX-License-Identifier: MIT
//
// The profiler that runs bpftrace: finds bpftrace, makes its command lines, runs it, and reads its output.
#pragma once

#include <string>
#include <vector>

#include "extras/profilers/launcher/launcher_link.h"
#include "os/errors.h"

namespace syscost::profilers {

class BpftraceCommand {
 public:
  /// Finds bpftrace, the launcher and, if requested and not root, sudo. Fails with cause and fix if one of them is
  /// missing, too old, or does not work here. Runs bpftrace to read its version.
  static Result<BpftraceCommand> find(bool asks_for_sudo);

  /// One bpftrace that starts the gate when all its probes are attached.
  Command with_gate(const std::vector<std::string>& arguments) const;

  const std::string& launcher() const { return launcher_; }
  const std::vector<std::string>& environment() const { return environment_; }
  bool uses_sudo() const { return !sudo_.empty(); }
  /// True if it uses the process numbers of its own PID namespace. 0.17 does not.
  bool knows_pid_namespaces() const { return warns_unasked_; }

 private:
  BpftraceCommand() = default;
  Result<void> ask_version();
  /// Returns the flags by which bpftrace reports a full map. A bpftrace that handles PID namespaces, started inside
  /// one, also warns of every event of a process outside. That is too much to read, so all warnings are off then.
  std::vector<std::string> flags_of_warnings() const;

  std::string launcher_;
  std::string tool_;
  std::string sudo_;  // empty: not used
  std::vector<std::string> environment_;
  bool warns_unasked_ = false;  // it reports a full map without -k; with -k also each failed lookup
};

}  // namespace syscost::profilers
