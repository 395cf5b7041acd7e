// SPDX-License-Identifier: MIT
//
// check --update: what differs goes into the baseline, and nothing else, so that the diff is what changed.
#include <fmt/format.h>

#include <ostream>
#include <utility>

#include "budgets/measures.h"
#include "commands/baseline.h"
#include "commands/check.h"
#include "commands/without_counts.h"
#include "csv/printable.h"
#include "stats/baseline_windows.h"

namespace syscost::bench::commands {
namespace {

/// Puts the differences into the baseline.
void update(const CheckResult& result, WithoutCounts& without_counts, model::Baseline& baseline) {
  const bool has_times = baseline.has_times();
  std::vector<model::BaselineWindow> windows;
  for (const CheckedRow& row : result.rows) {
    if (!row.run_index) continue;  // gone
    if (row.baseline_index && is_as_before(row.comparison.verdict)) {
      windows.push_back(baseline.windows[*row.baseline_index]);
      continue;
    }
    const stats::WindowSummary& window = result.windows[*row.run_index];
    const WithoutCounts::Answer answer = without_counts.decide(window);
    if (answer == WithoutCounts::Answer::refused) continue;
    add_classes(window, baseline);
    const model::Group& group = result.groups[*row.run_index];
    windows.push_back(
        stats::to_baseline(window, result.data.text(group.program), model::base_name(result.data, group)));
    if (has_times && answer == WithoutCounts::Answer::has_counts)
      budgets::add_times(budgets::subject_of(result.data, group, window, true), windows.back());
  }
  baseline.windows = std::move(windows);
}

}  // namespace

int check_update(const cli::CheckOptions& options, const CheckResult& result, std::ostream& out, std::ostream& err) {
  model::Baseline baseline = result.baseline;
  csv::Problems problems;
  WithoutCounts without_counts(options, result.data.name, problems);
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
