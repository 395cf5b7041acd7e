// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <string>

#include "cli/arguments.h"
#include "cli/grammar.h"
#include "commands/commands.h"
#include "commands/summary/summary.h"

namespace syscost::bench::commands {
namespace {

constexpr const char* kSummaryFooter =
    R"(Prints the syscalls of all tests, and one line for each test, the worst first. With --details, and if you select one
test: a table per test with the columns of strace -c, waits apart from work, errnos of failed calls, findings.
Numbers are per repetition: the median if repetitions differ, with [min..max] for counts.

Examples:
  bench summary out.csv
  bench summary out.csv --sort kernel --top 20
  bench summary out.csv --test 'Log.*' --details
  bench summary out.csv --where             which lines make the calls
  bench summary results/                    every *.csv of the folder
  bench summary out.csv --all-runs          pool all runs of the file, not only the newest
  bench summary out.csv --format json | jq '.tests[].calls')";

void add_summary(CLI::App& line, cli::Grammar& grammar) {
  cli::Options& options = grammar.options;
  line.add_option("RUN", options.runs, cli::kRunHelp)->required();
  CLI::Option* const details = line.add_flag("--details", options.has_details, "Print the table of every test");
  line.add_flag("--stats-extended", options.has_extended,
                "Print statistics over all tests: latencies of each syscall, tests far above the "
                "others, syscalls that go together");
  line.add_flag("--where", options.has_where,
                "Print the lines of the program that make the calls, of all tests together; RUN needs --syscost_where")
      ->excludes(details);
  cli::add_selection_options(line, grammar, cli::kSummaryKeys);
  cli::add_output_options(line, grammar.raw);
  cli::add_size_option(line, options, "1000000");
  cli::add_run_options(line, options);
}

std::string read_summary(cli::Grammar& grammar, const CLI::App&) {
  grammar.options.sorts_lines = grammar.options.has_where;
  return {};
}

std::string fault_of_summary(cli::Options& options) {
  if (options.has_extended && (options.has_details || options.has_where || !options.sort.empty())) {
    return "--stats-extended is about all tests: leave out --details, --where and --sort";
  }
  return {};
}

}  // namespace

constinit const cli::Command kSummaryCommand = {
    .name = "summary",
    .group = "Look",
    .about = "The syscalls of each test",
    .footer = kSummaryFooter,
    .add = add_summary,
    .read = read_summary,
    .check = fault_of_summary,
    .run = summary,
};

}  // namespace syscost::bench::commands
