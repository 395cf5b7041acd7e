// SPDX-License-Identifier: MIT
#include "cli/check_arguments.h"

namespace syscost::bench::cli {
namespace {

const char* const kBaselineFooter = R"(bench baseline update RUN...

Writes what the tests of all RUNs ask of the kernel into a text file for your repository: sorted, a line for each count.
Give several runs (three or more are good): where they differ the file has the range, and `bench` estimates how many
false alarms the next run will raise. The newest run of each file counts; --all-runs takes all.
A test that failed, or of which events were lost, keeps the file from being written.

Examples:
  for i in 1 2 3; do SYSCOST_CSV=$PWD/run$i.csv ctest; done
  bench baseline update run1.csv run2.csv run3.csv    writes syscost.baseline
  bench check pr.csv                                  judges a run against it)";

const char* const kCheckFooter =
    R"(Judges RUN against a baseline (`bench baseline update`), as `compare` judges two runs.
A count that grew, a new errno, a test that is missing or failed: exit code 1. A test that cannot be judged (events lost,
another filter): 3. A test that the baseline does not know is shown and passes; --update adds it.
Without --baseline it takes syscost.baseline of the current folder.

Examples:
  bench check pr.csv
  bench check pr.csv --update               after a review: writes what differs into the baseline
  bench check pr.csv --baseline ci/linux.baseline --format md >> "$GITHUB_STEP_SUMMARY")";

CLI::Validator not_empty() {
  return {[](const std::string& text) { return text.empty() ? std::string("it is empty") : std::string(); }, ""};
}

}  // namespace

CLI::App* add_baseline_command(CLI::App& app, Options& options, const char* run_help) {
  auto* baseline = app.add_subcommand("baseline", "Write what tests ask of the kernel into a file to commit");
  baseline->require_subcommand(1);
  auto* update = baseline->add_subcommand("update", "Write the baseline of one or more runs")->footer(kBaselineFooter);
  update->add_option("RUN", options.runs, run_help)->required();
  update->add_option("-o,--output", options.check.output, "The file to write (syscost.baseline)")
      ->type_name("FILE")
      ->check(not_empty());
  update->add_flag("--all-runs", options.all_runs, "Take all runs of each file");
  return update;
}

CLI::App* add_check_command(CLI::App& app, Options& options, std::string& run, const char* run_help) {
  auto* check = app.add_subcommand("check", "Judge a run against a baseline")->footer(kCheckFooter);
  check->add_option("RUN", run, run_help)->required();
  check->add_option("--baseline", options.check.baseline, "The baseline (syscost.baseline)")
      ->type_name("FILE")
      ->check(not_empty());
  check->add_flag("--update", options.check.is_update, "Write what differs into the baseline");
  check->add_flag("--all", options.all, "Show every test (json always does)");
  return check;
}

}  // namespace syscost::bench::cli
