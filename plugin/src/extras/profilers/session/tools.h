// SPDX-License-Identifier: MIT
//
// Tools: the profilers that the user requested, started and stopped together. Only tools.cc names all profilers.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "extras/profilers/profiler.h"
#include "extras/profilers/session/findings.h"
#include "session/options/options.h"

namespace syscost::session {

using ToolList = std::vector<std::unique_ptr<profilers::Profiler>>;
/// Makes the tools that the options request. A function, so that tests can use tools of their own.
using ToolOpener = std::function<Result<ToolList>(const Options&)>;

Result<ToolList> open_tools(const Options& options);

/// Prints the scripts that --syscost_bpf can name. Returns the exit code.
int list_scripts(const Options& options);

/// The script that runs if the user names none.
inline constexpr const char* kDefaultScript = "syslat";
/// The names of the scripts that will run.
std::vector<std::string> scripts_of(const Options& options);

/// Not thread-safe, but for arm() and disarm().
class Tools {
 public:
  explicit Tools(ToolList tools = {}) : tools_(std::move(tools)) {}

  bool any() const { return !tools_.empty(); }
  /// True if one of them is part of this process: after it was attached, nothing can be timed.
  bool runs_inside() const {
    return std::any_of(tools_.begin(), tools_.end(), [](const auto& tool) { return tool->runs_inside(); });
  }
  /// `bpftrace`, `bpftrace and perf`.
  std::string names() const;
  /// Tests whether they work.
  Result<void> check();

  /// Starts all, or none. Enters the kernel and takes long.
  Result<void> attach();
  bool is_attached() const { return is_attached_; }
  /// No syscall.
  void arm() noexcept {
    for (const auto& tool : tools_) tool->arm();
  }
  void disarm() noexcept {
    for (const auto& tool : tools_) tool->disarm();
  }
  /// Stops all and adds their output to `findings`. Fails with the first failure of a tool.
  Result<void> detach(Findings& findings);

 private:
  ToolList tools_;
  bool is_attached_ = false;
};

}  // namespace syscost::session
