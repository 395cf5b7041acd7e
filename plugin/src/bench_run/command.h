// SPDX-License-Identifier: MIT
//
// Runs the command as a shell would: with its own descriptors, its own signals, its exit code. Alone, or measured as a
// whole. Tells `bench` of its end. A command that cannot be measured is refused.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "bench_run/programs.h"
#include "os/signals.h"
#include "os/text.h"

namespace syscost::bench_run {

// The report of the command's end for `bench`: lines to a descriptor that it passes to this program (--report-end=FD).
//
// The exit code of this program is the command's, as a shell gives it, and its messages go where the command's output
// goes. So neither tells an end of the command from a refusal of ours, or exit code 137 from a signal. The lines do:
//     refused WHY       this program, or syscost in the command's process, could not measure it
//     command STATUS    the command has ended; STATUS as waitpid() gives it

/// Takes the descriptor, so that the command does not get it. False where `number` is none that is open.
bool open_end_report(std::string_view number);

/// Each does nothing where bench did not ask.
void report_refused(const std::string& why);
void report_command(int status);

// The ends of syscost-run that are not the command's.

constexpr int kExitBadInput = 2;
constexpr int kExitNothingMeasured = 1;

/// Ends this process before the command starts.
[[noreturn]] inline void refuse(const std::string& why, const std::string& remedy) {
  std::fprintf(stderr, "bench: %s\n  fix: %s\n", printable(why).c_str(), printable_lines(remedy).c_str());
  report_refused(why);
  std::exit(kExitBadInput);
}

struct CommandEnd {
  int error = 0;  ///< errno where it could not be executed; else 0.
  pid_t process = -1;
  int status = 0;  ///< As waitpid() gives it.

  /// As a shell gives it: 128 and the signal's number where a signal ended it. Only for a command that was executed.
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

// A command that is measured as a whole: from outside, or by a library in each of its programs.

/// Starts to measure `program`, which the user called `name`. `library`: what is preloaded if its programs count
/// themselves. Ends this program where the command cannot be measured.
void start_outside(const ProgramFile& program, const std::string& name, const std::string& library);

/// Names each part of the command that is not in its rows.
void print_not_counted();

}  // namespace syscost::bench_run
