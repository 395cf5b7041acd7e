// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <string>

#include "cli/arguments.h"
#include "cli/grammar.h"
#include "cli/mistakes.h"
#include "commands/commands.h"
#include "commands/log/log.h"

namespace syscost::bench::commands {
namespace {

constexpr const char* kLogFooter =
    R"(Without TEST: a line for each cause that entered or left, the newest first. Each run is compared with the one before, as
`compare` does. A cause entered in the first run that has it: a line of the program, or the same change in several
tests. It left where the calls are no longer made. Counts in doubt are named at the end.

With TEST: a line for each run, the oldest first. A line that begins with ^ shows what changed in the run above.
Counts: the syscalls that are called more or less often than in all runs since the previous step, at most 20 of them.
Counts that varied in those runs are judged by their spread, as in `compare`; see --tolerate and --volatile.
Times: from this run on the time differs by more than --threshold, and at most one in a hundred random orders of the
same runs has such a step. This needs 11 runs, three on each side, and times of one machine.

Examples:
  bench log nightly/                        which changes entered and left
  bench log Log.Write history.csv           one test, in the runs of one file
  bench log Log.Write nightly/              a folder of files, *.csv.gz too
  bench log Log.Write 2026-*.csv.gz --format csv      to plot it elsewhere)";

void add_log(CLI::App& line, cli::Grammar& grammar) {
  cli::Options& options = grammar.options;
  line.add_option("TEST", options.test, "Its name, or a part that only one test has; without: the causes of all tests")
      ->check(cli::not_empty());
  line.add_option("RUN", options.runs, cli::kRunHelp);
  cli::add_folder_option(line, options);
  line.add_option("--threshold", options.threshold, "Change of a time in percent that matters (3)");
  cli::add_config_option(line, options, "Read `volatile` and `tolerate` from this file, as compare does");
  cli::add_count_options(line, grammar.raw);
  cli::add_output_options(line, grammar.raw);
}

std::string read_log(cli::Grammar& grammar, const CLI::App&) {
  cli::put_runs_last(grammar.options.test, grammar.options.runs);
  return cli::no_run_but(grammar.options.runs);
}

}  // namespace

constinit const cli::Command kLogCommand = {
    .name = "log",
    .group = "Compare",
    .about = "The history of runs: which changes entered and left, or the steps of one test",
    .footer = kLogFooter,
    .add = add_log,
    .read = read_log,
    .run = log,
};

}  // namespace syscost::bench::commands
