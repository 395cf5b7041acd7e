// SPDX-License-Identifier: MIT
//
// Runs the command as a shell would: its own descriptors, its own signals, its exit code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "os/passing_signals.h"

namespace syscost::bench_run {

struct CommandEnd {
  int error = 0;  ///< errno where it could not be executed; else 0.
  pid_t process = -1;
  int status = 0;  ///< As waitpid() gives it.

  /// As a shell gives it: 128 and the signal's number where a signal ended it. Of a command that was executed.
  int exit_code() const;
  bool has_passed() const { return error == 0 && status == 0; }
};

/// While the command runs, `make` is called each `milliseconds`, unless that is 0.
struct Tick {
  std::uint64_t milliseconds = 0;
  void (*make)() = nullptr;
};

/// Executes the file at `path` with the arguments `command` (the program's name first) and waits for its end. `signals`
/// go to it.
///
/// Before the command executes, its process makes no other call than execve; one more, rt_sigaction, where this process
/// was started with SIGCHLD ignored.
CommandEnd run_command(const std::string& path, const std::vector<std::string>& command, PassingSignals& signals,
                       Tick tick = {});

}  // namespace syscost::bench_run
