// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "cli/grammar.h"
#include "commands/baseline/baseline.h"
#include "commands/commands.h"

namespace syscost::bench::commands {
namespace {

constexpr const char* kBaselineFooter =
    R"(bench baseline update RUN...

Writes the syscalls of the tests of all RUNs into a text file for your repository: sorted, one line for each count.
Give several runs, three or more if possible. If they differ, the file has the range, and `bench` estimates how many
false alarms the next run will raise. bench reads the newest run of each file; --all-runs reads all.
If a test failed, or lost events, no file is written, unless --allow-failed or --allow-lost leaves its counts out.

Examples:
  for i in 1 2 3; do SYSCOST_CSV=$PWD/run$i.csv ctest; done
  bench baseline update run1.csv run2.csv run3.csv    writes syscost.baseline
  bench check pr.csv                                  judges a run against it)";

void add_baseline(CLI::App& baseline, cli::Grammar& grammar) {
  cli::Options& options = grammar.options;
  baseline.require_subcommand(1);
  CLI::App* const line = baseline.add_subcommand("update", "Write the baseline of one or more runs");
  line->add_option("RUN", options.runs, cli::kRunHelp)->required();
  line->add_option("-o,--output", options.check.output, "The file to write (syscost.baseline)")
      ->type_name("FILE")
      ->check(cli::not_empty());
  line->add_flag("--times", options.check.has_times,
                 "Also write times and percentiles, for budgets of their growth; they differ in each run");
  line->add_flag("--all-runs", options.all_runs, "Take all runs of each file");
  cli::add_uncounted_options(*line, options);
  cli::add_count_options(*line, grammar.raw);
  cli::add_folder_option(*line, options);
}

}  // namespace

constinit const cli::Command kBaselineCommand = {
    .name = "baseline",
    .group = "Gate",
    .about = "Write the syscalls of tests into a file to commit",
    .footer = kBaselineFooter,
    .add = add_baseline,
    .run = [](const cli::Options& options, const render::Paint&, std::ostream& out,
              std::ostream& err) { return baseline_update(options, out, err); },
};

}  // namespace syscost::bench::commands
