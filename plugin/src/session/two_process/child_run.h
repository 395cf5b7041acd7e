// SPDX-License-Identifier: MIT
//
// ChildRun: runs this program once more as a counting process (CountingProcess), and reads what it sends.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "syscost/counting.h"

namespace syscost::session {

class ChildRun {
 public:
  using OnLine = std::function<void(std::string_view)>;
  using OnWait = std::function<void(int seconds)>;

  /// The counting process gets `request` and, beside this process's environment, `variables` (NAME=VALUE).
  ChildRun(std::string_view request, std::vector<std::string> variables);

  ChildRun(const ChildRun&) = delete;
  ChildRun& operator=(const ChildRun&) = delete;

  /// Starts the process and reads until it has ended. `on_line` gets each line, `on_wait` the seconds since the last
  /// one, now and then. Call it once.
  adapter::CountingEnd run(const OnLine& on_line, const OnWait& on_wait);

 private:
  [[noreturn]] void become_counting_process(int pipe, int errors, pid_t parent);

  // All that the child needs, made before fork(): after it, the child must not allocate.
  std::vector<std::string> arguments_;
  std::vector<std::string> variables_;
  std::vector<char*> argv_;
  std::vector<char*> envp_;
  std::string request_;
  char counting_variable_[64 + 4096] = {};  // NAME=PID:DESCRIPTOR:REQUEST
};

}  // namespace syscost::session
