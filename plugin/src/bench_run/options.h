// SPDX-License-Identifier: MIT
//
// The options of syscost-run, from its command line to the variables of the programs below.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syscost::bench_run {

// The command line of syscost-run: options of test programs without their prefix, then "--", then the command.

/// The part of the command that is measured.
enum class What {
  by_program,  ///< The tests below a test program or a program that starts others; of any other program the whole.
  tests,       ///< --tests: the tests below.
  process,     ///< --process: the command as a whole. Nothing is preloaded, so it makes the calls that it makes alone.
};

struct CommandLine {
  std::string end_report;  ///< --report-end: the descriptor for bench; empty = none.
  std::string interval;    ///< --interval: "1s"; empty = none.
  What what = What::by_program;
  std::vector<std::string> options;  ///< "--csv=FILE", "--csv", "FILE"; without those of this program.
  std::vector<std::string> command;  ///< The program first.
};
CommandLine split_command_line(int argc, char** argv);

/// Milliseconds of "500ms", "1s", "0.5s" or "2m"; empty for another text, and for less than 100 ms.
std::optional<std::uint64_t> milliseconds_in(std::string_view text);

/// An option as the variable that says the same: "SYSCOST_CSV", "FILE".
struct Variable {
  std::string name;
  std::string value;
};
/// All options in that form; take_options() has accepted them. Relative paths become those of `folder`.
std::vector<Variable> as_variables(const std::vector<std::string>& options, const std::string& folder);

// The environment of the programs below: the options as variables, and what is preloaded.

/// Ends this program where it has no path.
std::string working_directory();

/// Sets what the programs below read. Returns the CSV, empty where none is named.
std::string set_variables(const std::vector<std::string>& options);

/// One run of test programs that start one after another, or side by side, has one id.
void set_run_id();

/// False for a path that LD_PRELOAD cannot hold: the loader splits it at blanks and colons, and replaces $ORIGIN, $LIB
/// and $PLATFORM in it.
bool may_be_preloaded(const std::string& path);

/// Preloads the part that measures tests, which lies in `folder`.
void set_preload(const std::string& folder);

/// Lets each program of the command count itself.
void set_command_preload(const std::string& library, const std::string& memory);

/// A command that is measured as a whole gets the environment that it has alone. A program below it that is linked with
/// syscost would measure itself, too.
void forget_variables();

}  // namespace syscost::bench_run
