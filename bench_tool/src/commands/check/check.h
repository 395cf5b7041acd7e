// SPDX-License-Identifier: MIT
//
// bench check: judges a run against a baseline that is committed beside the tests.
//
// The baseline is OLD: a window of it is a WindowSummary with the ranges of its runs, so compare judges and
// prints it. Only the pairing differs, which is by name alone, and budgets come on top.
#pragma once

#include <cstddef>
#include <deque>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "budgets/budget.h"
#include "budgets/limits.h"
#include "cli/options.h"
#include "commands/compare/compare.h"
#include "commands/shared/site_text.h"
#include "csv/problems.h"
#include "judge/accept.h"
#include "judge/baseline_windows.h"
#include "judge/verdict.h"
#include "model/baseline.h"
#include "model/dataset.h"
#include "model/test_locations.h"
#include "render/ci_report.h"
#include "render/terminal.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {

/// Returns the exit code. 2 wins over 1, and 1 over 3: a verdict on partly read input has no value.
int check(const cli::Options& asked, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// A test of the run or of the baseline, or both.
struct CheckedRow {
  judge::Comparison comparison;
  std::optional<std::size_t> baseline_index;  ///< Into Baseline::windows.
  std::optional<std::size_t> run_index;       ///< Into the run's groups and windows.
};

/// The baseline, the budgets and the rules that a run is compared with.
struct CheckSettings {
  bool has_baseline = false;  ///< Else budgets alone.
  std::string baseline_file;
  model::Baseline baseline;
  std::vector<budgets::Budget> budgets;
  judge::CountPolicy counts;
  std::vector<judge::Accept> accepts;
  std::vector<judge::RuleOfTests> rules_of_tests;
  std::string
      count_rules;  ///< Rules of the budgets' file for counts that may vary; see commands/compare/count_rules.h.
  std::optional<double> gate_counts;  ///< Share by which a test's calls may grow.
  bool needs_histograms = false;
};

/// Everything the renderers need. It must not move: its rows point into it.
struct CheckResult {
  bool has_baseline = false;
  std::string baseline_file;
  model::Baseline baseline;
  std::vector<stats::WindowSummary> baseline_windows;  ///< In the same order.
  model::Dataset data;
  std::vector<model::Group> groups;
  std::vector<stats::WindowSummary> windows;
  std::deque<stats::WindowSummary> empty_windows;  ///< For set-ups that made no call.
  std::vector<CheckedRow> rows;  ///< Those of the baseline, in its order, then those that only the run has.
  budgets::Judgement judgement;
  std::vector<std::string> warnings;
  ProgramFaults lost;  ///< Each has a warning, and they are red.
  model::TestLocations locations;
  std::string command;       ///< It made the run; empty: RUN was given.
  std::string further_runs;  ///< `5 further runs (12.3 s): 2 of 2 tests decided`; "" without.
};

/// Compares `run` with it. Returns the reason why that is impossible, or "".
std::string judge_run(const cli::Options& options, const CheckSettings& settings, const std::string& run,
                      CheckResult& result, csv::Problems& problems);

/// Lets the calls of a test, and how many of them fail, grow by `share` of its calls; a new errno stays one.
void allow_growth(const judge::CountPolicy& policy, double share, judge::Comparison& row);

/// Programs that crashed, failed or ended before their tests, each with a sentence: some tests may not have run.
std::map<std::string, std::string> programs_cut_short(const CheckResult& result);

/// Writes the differences into the baseline, and takes out what is gone, but for tests of programs_cut_short(). Returns
/// the exit code.
int check_update(const cli::CheckOptions& options, const CheckResult& result, std::ostream& out, std::ostream& err);

/// Writes the differences of the tests of --accept into the baseline, prints what is still red, and takes the others
/// out of `result`. False: nothing was written.
bool check_accept(const cli::Options& options, const CheckSettings& settings, CheckResult& result, std::ostream& out,
                  std::ostream& err);

/// Equal, or it varies as it did.
bool is_as_before(judge::Verdict verdict);
/// The check as a comparison: the verdict of the whole check, and the rows as compare prints them.
CompareResult comparison_of(const cli::Options& options, const CheckSettings& settings, const CheckResult& result,
                            const csv::Problems& problems);

std::string check_text(const CheckSettings& settings, const CheckResult& result, const CompareResult& compared,
                       const cli::Options& options, const render::Paint& paint);
std::string check_markdown(const CheckSettings& settings, const CheckResult& result, const CompareResult& compared,
                           bool all, std::size_t most_bytes);
/// A case for each test and for each limit that is exceeded.
render::CiReport check_ci(const CheckSettings& settings, const CheckResult& result, const CompareResult& compared);
std::string check_json(const CheckSettings& settings, const CheckResult& result, const CompareResult& compared);

/// A limit that is exceeded, or that could not be checked because nothing was measured for it.
struct BudgetLine {
  bool fails = true;
  bool is_judged = true;
  std::string where;  ///< `syscost.toml:12`; of one that only warns `, warning` follows.
  std::string test;
  std::string title;
  std::string value;
  std::string limit;
  std::string reason;
  std::vector<SiteLine> sites = {};  ///< The lines that reach it, the most expensive first; empty: unknown.
};
/// Those that fail first.
std::vector<BudgetLine> budget_lines(const CheckSettings& settings, const CheckResult& result);

/// Returns the lines of the program that make the calls, errors or kernel time above a budget, and how much each makes:
/// at most `most` lines and one for the rest. Empty if they are not known.
std::vector<SiteLine> budget_sites(const budgets::Budget& budget, const budgets::Finding& finding,
                                   const CheckResult& result, std::size_t most);

/// `calls of openat is 5, and may be at most 4; each file is opened once (syscost.toml:12)`.
std::string sentence_of(const BudgetLine& line);

std::optional<judge::FalseAlarms> false_alarms(const CheckResult& result);
/// Lines below the tables, in all formats: how many false alarms are expected, what to do next.
std::string check_notes(const CheckResult& result, const CompareResult& compared);

}  // namespace syscost::bench::commands
