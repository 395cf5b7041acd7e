// SPDX-License-Identifier: MIT
//
// Where messages go: to the user, and to `bench run`.
#pragma once

#include <string>
#include <string_view>

namespace syscost {

// A program may close its standard error, as a daemon does, or put a file of its own in that place, as a test does that
// looks at what was printed. A message there would be in the program's data. So this library remembers what standard
// error was when it came into the process. It keeps no copy, because a copy would hold the other end of a pipe open.

/// Standard error, if it is still what it was; else standard output, if that is; else -1, and also if the program
/// began without a standard error. Any thread; makes syscalls, async-signal-safe.
int message_output();

/// Messages go to what these two are now. For a program that redirects its own; not beside message_output().
void note_message_output();

/// Writes all of `text` there, or as much as can be written. Where there is no place, the `bench run` above prints it
/// when its command has ended.
void write_message(std::string_view text);

/// A variable of `bench run` for programs below: the file to which its messages go.
inline constexpr const char* kBenchOutput = "SYSCOST_INTERNAL_BENCH_OUTPUT";
/// Names the file of message_output(); empty if there is none.
std::string message_file();

/// A message that only says how a program is measured. A runner may look at what a test program prints, as ctest does:
/// so `bench run` prints it in the end, once for all, if the program's messages go to another file than its own.
void write_start_message(std::string_view text);

// Tells `bench run` that syscost ends this program because it cannot measure it, or changes its exit code.
//
// The program ends with exit code 2 then, and a test may end it with 2, too. So a program that watches it, as a sweep
// of `bench faults` does, learns of a refusal in another way: by a line in the notes of `bench run`.

/// `why`: one line. Does nothing in a program that is not below `bench run`.
void note_refusal(const char* why);

/// Below `bench run`: programs that are started from now on are not measured, because tests start them. Until
/// measure_programs_again(). Both do nothing in other programs. One thread.
void leave_programs_alone();
/// `can_be`: false if they cannot be measured, because seccomp's filter stays: then `bench run` names those with tests.
void measure_programs_again(bool can_be = true);

/// The tests of this program have passed, and it does not end with 0: syscost had a problem, and printed it.
void note_verdict();

}  // namespace syscost
