// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "cli/grammar.h"
#include "commands/commands.h"
#include "commands/scale/scale.h"

namespace syscost::bench::commands {
namespace {

constexpr const char* kScaleFooter =
    R"(Tests are of one family if only numbers in their names differ: BM_Copy/64 and BM_Copy/128, BM_Copy/bytes:64,
Sizes/Copy.Works/4096. For each count of a family prints the formula that reproduces every one of its numbers:
`14`, `2n + 3`, `ceil(n/4096)`, `3*floor(log2(n)) + 1`, `n*m`; else `no law` and the numbers that break the best candidate.
With `b in 4090..4100`, each of these block sizes does. `n/a` if the sizes are too few to show a law.
Times: the best of O(1), O(log n), O(n), O(n log n), O(n^2) and O(n^3), and the part that does not grow.

Examples:
  bench scale out.csv                       every family of the newest run
  bench scale out.csv --test 'BM_Copy/*'    one of them
  bench scale history.csv --label           one test, in runs with labels size=64, size=128, ...
  bench compare main.csv pr.csv             also names laws that changed)";

void add_scale(CLI::App& line, cli::Grammar& grammar) {
  cli::Options& options = grammar.options;
  line.add_option("RUN", options.runs, cli::kRunHelp)->required();
  line.add_flag("--label", options.scales_by_label,
                "Sizes are those in the labels of runs (--syscost_label size=4096); reads all runs of all files");
  cli::add_test_option(line, options);
  cli::add_output_options(line, grammar.raw);
  cli::add_size_option(line, options, "1000000");
  cli::add_run_options(line, options);
}

}  // namespace

constinit const cli::Command kScaleCommand = {
    .name = "scale",
    .group = "Look",
    .about = "How counts and times grow with the sizes in names of tests",
    .footer = kScaleFooter,
    .add = add_scale,
    .run = scale_run,
};

}  // namespace syscost::bench::commands
