// SPDX-License-Identifier: MIT
#include "cli/check_arguments.h"

#include <utility>

#include "budgets/amounts.h"
#include "cli/validators.h"

namespace syscost::bench::cli {
namespace {

const char* const kBaselineFooter = R"(bench baseline update RUN...

Writes the syscalls of the tests of all RUNs into a text file for your repository: sorted, one line for each count.
Give several runs, three or more if possible. If they differ, the file has the range, and `bench` estimates how many
false alarms the next run will raise. bench reads the newest run of each file; --all-runs reads all.
If a test failed, or lost events, no file is written, unless --allow-failed or --allow-lost leaves its counts out.

Examples:
  for i in 1 2 3; do SYSCOST_CSV=$PWD/run$i.csv ctest; done
  bench baseline update run1.csv run2.csv run3.csv    writes syscost.baseline
  bench check pr.csv                                  judges a run against it)";

const char* const kCheckFooter =
    R"(Judges RUN against a baseline (`bench baseline update`), as `compare` judges two runs.
Exit code 1: a count grew, an errno is new, or a test is missing or failed. Exit code 3: no test can be judged
(events lost, another filter), or with --strict one cannot. A test that is not in the baseline is shown and passes;
--update adds it.
Without --baseline, check reads syscost.baseline of the current folder.

Examples:
  bench check pr.csv
  bench check pr.csv --update               after a review: writes the differences into the baseline
  bench check pr.csv --confirm 2 -- ctest --test-dir build      red: what repeats in two more runs
  bench check pr.csv --confirm 2 -- build/{program}      the same, only programs with red tests
  bench check pr.csv --gate-counts 10% --gate-p99 20%
  bench check pr.csv --baseline ci/linux.baseline --format md >> "$GITHUB_STEP_SUMMARY")";

const char* const kConfirmFooter =
    R"(bench confirm [OPTIONS] OLD NEW -- COMMAND [ARG]...

Compares as `compare` does. If a test is red, runs COMMAND up to --times times. A test stays red only if the same counts
grew each time, or the same gated time regressed. COMMAND must run every red test; it gets SYSCOST_CSV. If a word of it
contains `{program}`, bench runs it for each program that has a red test. If COMMAND fails, the exit code is 2.

Examples:
  bench confirm main.csv pr.csv -- ctest --test-dir build
  bench confirm main.csv pr.csv --times 3 -- build/{program})";

/// Tests that are written without counts.
void add_allow_options(CLI::App& app, Options& options) {
  app.add_flag("--allow-failed", options.check.allows_failed,
               "Write a failed test without counts; check does not judge it while it fails");
  app.add_flag("--allow-lost", options.check.allows_lost,
               "Write a test with lost events or missing rows without counts; check does not judge its counts");
}

}  // namespace

CLI::App* add_confirm_command(CLI::App& app, Options& options, std::string& old_run, std::string& new_run,
                              const char* run_help) {
  auto* confirm = app.add_subcommand("confirm", "Compare two runs, and run red tests again")->footer(kConfirmFooter);
  confirm->add_option("OLD", old_run, run_help)->required();
  confirm->add_option("NEW", new_run, "The same, for the run to judge")->required();
  confirm->add_option("--times", options.check.times, "How many times to run COMMAND (2)")->type_name("N");
  return confirm;
}

CLI::App* add_baseline_command(CLI::App& app, Options& options, const char* run_help) {
  auto* baseline = app.add_subcommand("baseline", "Write the syscalls of tests into a file to commit");
  baseline->require_subcommand(1);
  auto* update = baseline->add_subcommand("update", "Write the baseline of one or more runs")->footer(kBaselineFooter);
  update->add_option("RUN", options.runs, run_help)->required();
  update->add_option("-o,--output", options.check.output, "The file to write (syscost.baseline)")
      ->type_name("FILE")
      ->check(not_empty());
  update->add_flag("--times", options.check.has_times,
                   "Also write times and percentiles, for budgets of their growth; they differ in each run");
  update->add_flag("--all-runs", options.all_runs, "Take all runs of each file");
  add_allow_options(*update, options);
  return update;
}

CLI::App* add_check_command(CLI::App& app, Options& options, std::string& run, const char* run_help) {
  auto* check = app.add_subcommand("check", "Judge a run against a baseline")->footer(kCheckFooter);
  check->add_option("RUN", run, run_help)->required();
  check->add_option("--baseline", options.check.baseline, "The baseline (syscost.baseline)")
      ->type_name("FILE")
      ->check(not_empty());
  check
      ->add_option("--budgets", options.check.budgets,
                   "The file with budgets (syscost.toml, if it exists); see docs/gate.md")
      ->type_name("FILE")
      ->check(not_empty());
  check
      ->add_option("--gate-counts", options.check.gate_counts,
                   "Let the calls of a test grow by this share, for example 10%")
      ->type_name("SHARE");
  check->add_option("--gate-p99", options.check.gate_p99, "Red if a syscall's p99 grew by more than this share")
      ->type_name("SHARE");
  check
      ->add_option("--confirm", options.check.confirm,
                   "Run COMMAND (after `--`) up to N times; only what repeats each time stays red")
      ->type_name("N");
  check->add_flag("--update", options.check.is_update, "Write the differences into the baseline");
  add_allow_options(*check, options);
  check->add_flag("--strict", options.is_strict, "Exit 3 if any test has no verdict, not only if none has");
  check->add_flag("--all", options.all, "Show every test (json always does)");
  return check;
}

std::string check_fault(const Options& options) {
  constexpr std::size_t kMostRuns = 1000;
  const CheckOptions& asked = options.check;
  if (options.command == Command::confirm) {
    if (options.a.empty() || options.a[0].empty()) {
      return "confirm needs a command after `--`: bench confirm OLD NEW -- COMMAND [ARG]...";
    }
    if (asked.times < 1 || asked.times > kMostRuns) return "--times takes a number from 1 to 1000";
  }
  if (options.command != Command::check) return {};
  if (options.format == Format::csv) return "check prints text, md, json, junit, sarif or github";
  for (const auto& [name, text] :
       {std::pair("--gate-counts", asked.gate_counts), std::pair("--gate-p99", asked.gate_p99)}) {
    if (!text.empty() && !budgets::parse_share(text)) {
      return std::string(name) + " takes a share in percent, for example 10%, not \"" + text + '"';
    }
  }
  if (asked.confirm > kMostRuns) return "--confirm takes a number up to 1000";
  const bool has_command = !options.a.empty() && !options.a[0].empty();
  if (asked.confirm > 0 && !has_command)
    return "--confirm needs a command after `--`: bench check RUN --confirm 2 -- COMMAND";
  if (asked.confirm == 0 && !options.a.empty()) return "check runs a command only with --confirm N";
  if ((asked.allows_failed || asked.allows_lost) && !asked.is_update) {
    return "--allow-failed and --allow-lost say what --update writes: bench check RUN --update --allow-lost";
  }
  if (asked.is_update && asked.confirm > 0) return "--update writes the counts of RUN; leave --confirm out";
  return {};
}

}  // namespace syscost::bench::cli
