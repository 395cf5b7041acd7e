// SPDX-License-Identifier: MIT
//
// The command line of syscost-run: options of test programs without their prefix, then "--", then the command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syscost::bench_run {

/// What of the command is measured.
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

}  // namespace syscost::bench_run
