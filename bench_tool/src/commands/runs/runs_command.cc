// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "cli/grammar.h"
#include "commands/commands.h"
#include "commands/runs/runs.h"

namespace syscost::bench::commands {
namespace {

constexpr const char* kRunsFooter =
    R"(--run of the other commands takes a run_id, newest, oldest, newest~1 (the one before the newest), label:TEXT or
commit:TEXT (the newest run with this label, or with a commit that begins with TEXT).

Examples:
  bench runs history.csv
  bench summary history.csv --run newest~1
  bench compare history.csv history.csv --run label:main --run newest)";

void add_runs(CLI::App& line, cli::Grammar& grammar) {
  line.add_option("RUN", grammar.options.runs, cli::kRunHelp)->required();
  cli::add_folder_option(line, grammar.options);
  cli::add_output_options(line, grammar.raw);
}

}  // namespace

constinit const cli::Command kRunsCommand = {
    .name = "runs",
    .group = "Compare",
    .about = "List the runs of a file, the newest first",
    .footer = kRunsFooter,
    .add = add_runs,
    .run = [](const cli::Options& options, const render::Paint&, std::ostream& out,
              std::ostream& err) { return runs(options, out, err); },
};

}  // namespace syscost::bench::commands
