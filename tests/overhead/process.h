// SPDX-License-Identifier: MIT
//
// Starts programs and reads what they print: no shell, no sleep.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace overhead {

/// A running child; we read its stdout and stderr together.
class Process {
 public:
  /// Starts `arguments[0]` (looked up in PATH). Throws std::runtime_error when it cannot be started.
  explicit Process(const std::vector<std::string>& arguments);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Reads until `text` was printed. False when the child ended before that.
  bool read_until(std::string_view text);
  void signal(int number) const;
  /// Reads the rest and waits. Returns the exit status, or 128 + the signal that killed it.
  int wait();
  /// CPU time, user and system, of the process and of the children that it waited for. After wait().
  double cpu_ms() const { return cpu_ms_; }
  const std::string& output() const { return output_; }

  // For children without a Process: orphans that we inherited.

  /// CPU time of an orphan that has ended; nullopt if none has. Wait for every Process before you call this.
  static std::optional<double> reap_any_ms();
  static bool has_children();

 private:
  bool read_some();

  pid_t pid_ = -1;
  int pipe_ = -1;
  std::string output_;
  double cpu_ms_ = 0;
};

/// True when `program` is an executable file or found in PATH (or in /usr/sbin, where Debian keeps root's tools).
bool is_installed(const std::string& program);

}  // namespace overhead
