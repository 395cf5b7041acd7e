// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <string>

#include "cli/arguments.h"
#include "cli/grammar.h"
#include "commands/commands.h"
#include "commands/compare/compare.h"

namespace syscost::bench::commands {
namespace {

constexpr const char* kCompareFooter =
    R"(If one thread makes the calls of a test, its counts are exact: more calls of a family (the ways to write, to look for
a file, ...), more failures of a family with an errno, and other syncs are a regression. If calls take the place of
others of their family, the test is `exchanged`, which is green. If several threads make calls, or if counts vary, a
difference is `in doubt`: the last column says how many runs of each side decide it. With --strict, such a test ends
with exit code 3; without, it is green.
A test of OLD that is missing, failed, skipped or crashed in NEW fails the gate, unless you give --allow or --gate none.
Not gated: futex, syscalls of --volatile and, if several threads make calls, those of class %volatile (allocator, ...).
Tests in which only these changed are shown with --all only.
A time, wall or processor (cpu), regresses if chance does not explain the difference (p < 0.05, adjusted for the number
of tests) and the whole interval of the difference is beyond --threshold. Times are always shown, and gated with --gate
time (both), wall, cpu or all. Repetitions inside one process do not show how much two processes differ; `bench ab`
does. On a busy machine --gate counts,cpu finds more than wall time does.
A change of counts that is intended is accepted by a line in a commit message (--accept-from):
  Syscost-Accept: Log.Reads: +1 openat -- each file is opened twice now
WHAT after the test is what compare prints, or fewer syncs, leaks, write, ENOENT, ...; without it any change of the test's counts.
The same may stand in syscost.toml, as [[accept]] with test, what and reason. Else all stays as it is, also in the same test.

Examples:
  bench compare main.csv pr.csv             changed tests only; exit code 1 on regression
  bench compare main.csv pr.csv --all       unchanged tests too
  bench compare slow.csv fast.csv --pair Log.Slow=Log.Fast
  bench compare out.csv out.csv --run 17 --run 42     two runs of one file
  git log --format=%B main..HEAD | bench compare main.csv pr.csv --accept-from -
  bench compare main.json pr.json --gate time         plain Google Benchmark files: times alone
  bench compare main.csv pr.csv --format md >> "$GITHUB_STEP_SUMMARY")";

void add_compare(CLI::App& line, cli::Grammar& grammar) {
  cli::Options& options = grammar.options;
  line.add_option("OLD", grammar.run, cli::kRunHelp)->required();
  line.add_option("NEW", grammar.new_run, "The same, for the run to judge")->required();
  cli::add_side_command(line, "--old", options.old_command, "OLD");
  cli::add_side_command(line, "--new", options.new_command, "NEW");
  cli::add_run_budget(line, options);
  cli::add_selection_options(line, grammar, cli::kCompareKeys);
  cli::add_judging_options(line, grammar, "counts");
  cli::add_report_options(line, options, grammar.raw);
  cli::add_size_option(line, options, "60000");
  cli::add_run_options(line, options, 2);
}

std::string read_compare(cli::Grammar& grammar, const CLI::App&) {
  grammar.options.runs = {grammar.run, grammar.new_run};
  return {};
}

std::string fault_of_compare(cli::Options& options) {
  if (std::string fault = cli::run_budget_fault(options); !fault.empty()) return fault;
  if (!options.old_command.empty() && options.new_command.empty()) {
    return "--old needs --new: to tell the two, bench runs both again";
  }
  return {};
}

}  // namespace

constinit const cli::Command kCompareCommand = {
    .name = "compare",
    .group = "Compare",
    .about = "What changed between two runs",
    .footer = kCompareFooter,
    .add = add_compare,
    .read = read_compare,
    .check = fault_of_compare,
    .run = compare,
    .judges = true,
    .most_run_ids = 2,
};

}  // namespace syscost::bench::commands
