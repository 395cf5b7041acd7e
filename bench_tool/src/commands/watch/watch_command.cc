// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "cli/grammar.h"
#include "commands/commands.h"
#include "commands/watch/watch.h"

namespace syscost::bench::commands {
namespace {

constexpr const char* kWatchFooter =
    R"(RUN has intervals if `bench run --interval TIME` wrote it. Prints the newest interval: for each syscall its calls,
errors and time in the kernel per second, and its p99 over the last minute. Below: what was unusual in all intervals,
against the minute before each. docs/statistics.md says when a value is called unusual.
`bench run --live` prints the same while the command runs.

Examples:
  bench run --csv server.csv --interval 1s -- ./server      one row of each syscall for each second
  bench watch server.csv                                    also while the server runs
  bench run --live -- ./server >server.log                  the table is on the terminal, and changes)";

void add_watch(CLI::App& line, cli::Grammar& grammar) {
  cli::Options& options = grammar.options;
  line.add_option("RUN", options.runs, cli::kRunHelp)->required()->expected(1);
  line.add_flag("--all", options.all, "Show all that was unusual (20)");
  cli::add_color_option(line, grammar.raw);
  cli::add_run_options(line, options);
}

}  // namespace

constinit const cli::Command kWatchCommand = {
    .name = "watch",
    .group = "Measure",
    .about = "The intervals of a command, and what was unusual in them",
    .footer = kWatchFooter,
    .add = add_watch,
    .run = watch,
};

}  // namespace syscost::bench::commands
