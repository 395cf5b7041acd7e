// SPDX-License-Identifier: MIT
//
// check --accept and --update: write changes into the baseline, of some tests or of all.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <utility>

#include "budgets/measures.h"
#include "commands/baseline/baseline.h"
#include "commands/check/check.h"
#include "commands/shared/gate.h"
#include "csv/input.h"
#include "csv/text.h"
#include "judge/baseline_windows.h"
#include "judge/count_policy.h"
#include "model/baseline.h"
#include "model/choice.h"
#include "render/output_file.h"
#include "stats/summaries.h"

namespace syscost::bench::commands {

// check --accept: the changes of some tests go into the baseline; all other lines stay as they are.

namespace {

/// The patterns of --accept.
class Accepted {
 public:
  Accepted(const std::vector<std::string>& patterns, const CheckResult& result, csv::Problems& problems)
      : patterns_(patterns) {
    std::vector<std::string> names;
    for (const CheckedRow& row : result.rows) names.push_back(row.comparison.name);
    for (const std::string& pattern : patterns) {
      const bool is_met = std::any_of(result.rows.begin(), result.rows.end(),
                                      [&](const CheckedRow& row) { return fits(pattern, row); });
      if (!is_met) {
        problems.add("--accept " + pattern, 0, "no test has this name" + model::or_rather(pattern, names));
      }
    }
  }

  bool match(const CheckedRow& row) const {
    return std::any_of(patterns_.begin(), patterns_.end(),
                       [&](const std::string& pattern) { return fits(pattern, row); });
  }
  /// A test that the run does not have is meant by its name alone: a pattern may match it by mistake.
  bool mean(const CheckedRow& row) const {
    return std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& pattern) {
      return (row.run_index || pattern.find_first_of("*?") == std::string::npos) && fits(pattern, row);
    });
  }

 private:
  static bool fits(const std::string& pattern, const CheckedRow& row) {
    const judge::Comparison& one = row.comparison;
    const stats::WindowSummary& window = one.new_window != nullptr ? *one.new_window : *one.old_window;
    return model::TestPatterns{{pattern}}.matches(judge::pattern_name(window));
  }

  const std::vector<std::string>& patterns_;
};

/// `2 tests: Log.Reads regressed, Log.Vanishes missing`; "" if there is none.
template <class Are>
std::string tests_that(Are are, const CheckResult& result) {
  constexpr std::size_t kMostNamed = 10;
  std::vector<std::string> names;
  for (const CheckedRow& row : result.rows) {
    const judge::Comparison& one = row.comparison;
    if (are(one)) names.push_back(fmt::format("{} {}", one.name, judge::to_string(one.verdict)));
  }
  if (names.empty()) return {};
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMostNamed));
  return fmt::format("{} test{}: {}{}", names.size(), names.size() == 1 ? "" : "s", fmt::join(names.begin(), end, ", "),
                     end == names.end() ? "" : ", ...");
}

/// All that is red or has no verdict, without the tests that were written.
std::string what_is_left(const cli::Gate& gate, const CheckSettings& settings, const CheckResult& result) {
  const auto is_red = [&](const judge::Comparison& row) { return !gate_failures(row, gate).empty(); };
  const auto is_unjudged = [&](const judge::Comparison& row) { return !is_red(row) && lacks_answer(row, gate); };
  std::vector<std::string> parts;
  if (std::string tests = tests_that(is_red, result); !tests.empty()) parts.push_back(std::move(tests));
  if (!result.lost.empty()) parts.push_back(result.lost.text());
  for (const BudgetLine& line : budget_lines(settings, result)) {
    if (line.fails) parts.push_back(fmt::format("{}: {}", line.test, sentence_of(line)));
  }
  std::string out = parts.empty() ? "nothing else is red\n" : fmt::format("still red: {}\n", fmt::join(parts, "; "));
  const std::string unjudged = tests_that(is_unjudged, result);
  return out + (unjudged.empty() ? "" : "without a verdict: " + unjudged + '\n');
}

}  // namespace

bool check_accept(const cli::Options& options, const CheckSettings& settings, CheckResult& result, std::ostream& out,
                  std::ostream& err) {
  csv::Problems problems;
  const Accepted accepted(options.check.accepted, result, problems);
  const std::optional<std::string> text = csv::read_text(result.baseline_file, problems);
  const model::BaselineTold told = model::told_by(result.baseline.windows);
  WithoutCounts without_counts(options.check, result.data.name, problems, &result.baseline);
  model::Baseline added;  // what the head must know of the new lines
  std::vector<model::BaselineEdit> edits;
  std::string written;
  std::vector<CheckedRow> others;
  std::size_t kept = 0;
  for (CheckedRow& row : result.rows) {
    if (!row.run_index && accepted.match(row) && !accepted.mean(row)) ++kept;
    if (!accepted.mean(row) || (row.baseline_index && is_as_before(row.comparison.verdict))) {
      others.push_back(std::move(row));
      continue;
    }
    if (!row.run_index) {
      edits.push_back({result.baseline.windows[*row.baseline_index], true});
      written += fmt::format("  {}: removed, the run does not have it\n", row.comparison.name);
      continue;
    }
    const stats::WindowSummary& window = result.windows[*row.run_index];
    const WithoutCounts::Answer answer = without_counts.decide(window);
    if (answer == WithoutCounts::Answer::refused) continue;
    add_classes(window, added);
    const model::Group& group = result.groups[*row.run_index];
    model::BaselineWindow lines =
        judge::to_baseline(window, result.data.text(group.program), model::base_name(result.data, group));
    if (const std::string unknown = model::why_not_beside(lines, told); !unknown.empty()) {
      problems.add(result.data.name, 0,
                   fmt::format("{}: {} is in the baseline and not in the run; write a new baseline (baseline update)",
                               row.comparison.name, unknown));
    }
    if (result.baseline.has_times() && answer == WithoutCounts::Answer::has_counts) {
      budgets::add_times(budgets::subject_of(result.data, group, window, true), lines);
    }
    edits.push_back({std::move(lines)});
    const std::string change = change_and_reason(row.comparison);
    written += fmt::format("  {}: {}{}\n", row.comparison.name, judge::to_string(row.comparison.verdict),
                           change.empty() ? "" : ", " + change);
  }
  std::string fault = problems.empty() ? "" : "no baseline was written" + without_counts.advice();
  if (fault.empty() && !edits.empty()) {
    fault = render::write_output(result.baseline_file, {model::kBaselineTitle, "baseline of bench"},
                                 model::edited(*text, told, std::move(edits), added.classes));
  }
  if (!fault.empty()) {
    problems.print(err);
    err << "bench: " << csv::printable_lines(fault) << '\n';
    return false;
  }
  result.rows = std::move(others);
  const std::string file = csv::printable(result.baseline_file);
  out << (written.empty() ? fmt::format("nothing was written into {}: no count of these tests changed\n", file)
                          : fmt::format("wrote into {}; read its diff before you commit it:\n{}", file, written))
      << (kept == 0 ? ""
                    : fmt::format("{} of these tests {} not in the run; --accept NAME, without * and ?, removes one\n",
                                  kept, kept == 1 ? "is" : "are"))
      << without_counts.text() << what_is_left(options.gate, settings, result);
  return true;
}

// check --update: what differs goes into the baseline, and nothing else, so that the diff is what changed.

namespace {

bool is_set_up_of_a_test(const stats::WindowSummary& window, const CheckResult& result) {
  return std::ranges::any_of(result.windows,
                             [&](const stats::WindowSummary& one) { return stats::is_test_of(window, one); });
}

/// Puts the differences into the baseline.
void update(const CheckResult& result, WithoutCounts& without_counts, model::Baseline& baseline) {
  const bool has_times = baseline.has_times();
  const std::map<std::string, std::string> cut_short = programs_cut_short(result);
  std::vector<model::BaselineWindow> windows;
  for (const CheckedRow& row : result.rows) {
    const judge::Comparison& compared = row.comparison;
    const bool is_unknown =
        compared.new_window == nullptr && (cut_short.contains(std::string(compared.old_window->program)) ||
                                           is_set_up_of_a_test(*compared.old_window, result));
    if (row.baseline_index && (is_as_before(compared.verdict) || is_unknown)) {
      windows.push_back(baseline.windows[*row.baseline_index]);
      continue;
    }
    if (!row.run_index) continue;  // gone
    const stats::WindowSummary& window = result.windows[*row.run_index];
    const WithoutCounts::Answer answer = without_counts.decide(window);
    if (answer == WithoutCounts::Answer::refused) continue;
    add_classes(window, baseline);
    const model::Group& group = result.groups[*row.run_index];
    windows.push_back(
        judge::to_baseline(window, result.data.text(group.program), model::base_name(result.data, group)));
    if (has_times && answer == WithoutCounts::Answer::has_counts)
      budgets::add_times(budgets::subject_of(result.data, group, window, true), windows.back());
  }
  baseline.windows = std::move(windows);
}

}  // namespace

int check_update(const cli::CheckOptions& options, const CheckResult& result, std::ostream& out, std::ostream& err) {
  model::Baseline baseline = result.baseline;
  csv::Problems problems;
  WithoutCounts without_counts(options, result.data.name, problems, &result.baseline);
  update(result, without_counts, baseline);
  problems.print(err);
  const bool is_new = model::to_text(baseline) != model::to_text(result.baseline);
  std::string fault = problems.empty() ? "" : "no baseline was written" + without_counts.advice();
  if (fault.empty() && is_new) fault = write_baseline(result.baseline_file, std::move(baseline));
  if (!fault.empty()) {
    err << "bench: " << fault << '\n';
    return cli::kExitBadInput;
  }
  out << fmt::format("{} {}\n", csv::printable(result.baseline_file),
                     is_new ? "is updated: read its diff before you commit it" : "is up to date: nothing was written")
      << without_counts.text();
  return cli::kExitOk;
}

}  // namespace syscost::bench::commands
