// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "budgets/measures.h"
#include "cli/arguments.h"
#include "cli/grammar.h"
#include "commands/check/check.h"
#include "commands/commands.h"

namespace syscost::bench::commands {
namespace {

constexpr const char* kCheckFooter =
    R"(Judges RUN against a baseline (`bench baseline update`), as `compare` judges two runs.
The baseline is OLD, and RUN is NEW. Exit code 1: a count grew, an errno is new, or a test is missing or failed. Exit
code 3: no test can be judged (events lost, another filter), or with --strict one cannot. A test that is not in the
baseline is shown and passes; --update adds it. --accept writes some tests alone, and no other byte of the file.
Without --baseline, check reads syscost.baseline of the current folder.

With a COMMAND, tests that are red or in doubt are run again: until they are decided, 40 times at most, within --budget.
COMMAND gets SYSCOST_CSV, and must run all of a program's tests. Without RUN, the exit code is 1, too, if COMMAND ends
with a status that no failed test explains.

Examples:
  bench check pr.csv
  bench check pr.csv --update               after a review: writes the differences into the baseline
  bench check pr.csv --accept 'Log.*'       the same, of these tests alone
  bench check -- ctest --test-dir build       measures, and runs again what is red or in doubt
  bench check pr.csv -- ctest --test-dir build       the same for a run that you have
  bench check pr.csv -- build/{program}       runs only programs with such tests again
  bench check --update -- ctest --test-dir build
  bench check pr.csv --gate-counts 10% --gate-p99 20%
  bench check pr.csv --baseline ci/linux.baseline --format md >> "$GITHUB_STEP_SUMMARY")";

void add_check(CLI::App& line, cli::Grammar& grammar) {
  cli::Options& options = grammar.options;
  line.add_option("RUN", grammar.run, std::string(cli::kRunHelp) + "; or leave it out, and give COMMAND");
  line.add_option("--baseline", options.check.baseline, "The baseline (syscost.baseline)")
      ->type_name("FILE")
      ->check(cli::not_empty());
  line.add_option("--budgets,--config", options.check.budgets,
                  "The file with budgets and rules (syscost.toml, if it exists); see docs/gate.md")
      ->type_name("FILE")
      ->check(cli::not_empty());
  line.add_option("--gate-counts", options.check.gate_counts,
                  "Let the calls of a test grow by this share, for example 10%")
      ->type_name("SHARE");
  line.add_option("--gate-p99", options.check.gate_p99, "Red if a syscall's p99 grew by more than this share")
      ->type_name("SHARE");
  cli::add_run_budget(line, options);
  line.add_flag("--update", options.check.is_update, "Write the differences into the baseline");
  line.add_option("--accept", options.check.accepted,
                  "Write the differences of these tests alone into the baseline; may be repeated")
      ->type_name("PATTERN")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(cli::not_empty());
  cli::add_uncounted_options(line, options);
  line.add_flag("--strict", options.is_strict, "Exit 3 if any test has no verdict, not only if none has");
  line.add_flag("--all", options.all, "Show every test (json always does)");
  cli::add_selection_options(line, grammar, cli::kCompareKeys);
  cli::add_allow_option(line, grammar.raw);
  cli::add_accept_option(line, options);
  cli::add_count_options(line, grammar.raw);
  cli::add_report_options(line, options, grammar.raw);
  cli::add_size_option(line, options, "60000");
  cli::add_run_options(line, options);
}

std::string read_check(cli::Grammar& grammar, const CLI::App& line) {
  if (!grammar.run.empty() || line.count("RUN") > 0) grammar.options.runs = {grammar.run};
  return {};
}

std::string fault_of_check(cli::Options& options) {
  const cli::CheckOptions& asked = options.check;
  if (std::string fault = cli::run_budget_fault(options); !fault.empty()) return fault;
  if (options.format == cli::Format::csv) return "check prints text, md, json, junit, sarif or github";
  for (const auto& [name, text] :
       {std::pair("--gate-counts", asked.gate_counts), std::pair("--gate-p99", asked.gate_p99)}) {
    if (!text.empty() && !budgets::parse_share(text)) {
      return std::string(name) + " takes a share in percent, for example 10%, not \"" + text + '"';
    }
  }
  const bool has_command = !options.a.empty() && !options.a[0].empty();
  if (options.runs.empty() && !has_command) {
    return "check needs a RUN, or a command that writes one: bench check -- COMMAND [ARG]...";
  }
  if (!options.a.empty() && !has_command) return "the command after `--` is empty";
  if ((asked.allows_failed || asked.allows_lost) && !asked.writes()) {
    return "--allow-failed and --allow-lost say what --update writes: bench check RUN --update --allow-lost";
  }
  if (asked.writes() && has_command && !options.runs.empty()) {
    return "--update writes the counts of RUN, or those of a run of COMMAND: give one of them";
  }
  if (asked.writes() && !options.tests.empty()) {
    return "--test chooses what is judged, and --update and --accept say what is written: leave --test out";
  }
  if (asked.is_update && !asked.accepted.empty()) return "--update writes all tests; leave it or --accept out";
  return {};
}

constexpr cli::Needless kCheckNeedless[] = {
    {"--confirm", "check runs a command again by itself: bench check RUN -- COMMAND [ARG]..."}};

}  // namespace

constinit const cli::Command kCheckCommand = {
    .name = "check",
    .group = "Gate",
    .about = "Judge a run against a baseline",
    .footer = kCheckFooter,
    .add = add_check,
    .read = read_check,
    .check = fault_of_check,
    .run = check,
    .commands_after_mark = 1,
    .after_mark = " [-- COMMAND [ARG]...]",
    .judges = true,
    .needless = kCheckNeedless,
};

}  // namespace syscost::bench::commands
