// SPDX-License-Identifier: MIT
//
// check --update: what differs goes into the baseline, and nothing else, so that the diff is what changed.
#include <fmt/format.h>

#include <ostream>
#include <utility>

#include "budgets/measures.h"
#include "commands/baseline.h"
#include "commands/check.h"
#include "csv/printable.h"
#include "stats/baseline_windows.h"

namespace syscost::bench::commands {
namespace {

/// Puts the differences into the baseline. Returns why a test cannot be written, one text for each such test.
std::vector<std::string> update(const CheckResult& result, model::Baseline& baseline) {
  std::vector<std::string> faults;
  const bool has_times = baseline.has_times();
  std::vector<model::BaselineWindow> windows;
  for (const CheckedRow& row : result.rows) {
    if (!row.run_index) continue;  // gone
    if (row.baseline_index && is_as_before(row.comparison.verdict)) {
      windows.push_back(baseline.windows[*row.baseline_index]);
      continue;
    }
    const stats::WindowSummary& window = result.windows[*row.run_index];
    if (const std::string fault = stats::fault_of(window); !fault.empty()) {
      faults.push_back(fmt::format("{} cannot be a baseline: {}", window.name, fault));
      continue;
    }
    add_classes(window, baseline);
    const model::Group& group = result.groups[*row.run_index];
    windows.push_back(
        stats::to_baseline(window, result.data.text(group.program), model::base_name(result.data, group)));
    if (has_times) budgets::add_times(budgets::subject_of(result.data, group, window, true), windows.back());
  }
  baseline.windows = std::move(windows);
  return faults;
}

}  // namespace

int check_update(const CheckResult& result, std::ostream& out, std::ostream& err) {
  model::Baseline baseline = result.baseline;
  const std::vector<std::string> faults = update(result, baseline);
  for (const std::string& fault : faults) err << "bench: " << fault << '\n';
  const bool is_new = model::to_text(baseline) != model::to_text(result.baseline);
  std::string fault = faults.empty() ? "" : "no baseline was written";
  if (fault.empty() && is_new) fault = write_baseline(result.baseline_file, std::move(baseline));
  if (!fault.empty()) {
    err << "bench: " << fault << '\n';
    return cli::kExitBadInput;
  }
  out << fmt::format("{} {}\n", csv::printable(result.baseline_file),
                     is_new ? "is updated: read its diff before you commit it" : "is up to date: nothing was written");
  return cli::kExitOk;
}

}  // namespace syscost::bench::commands
