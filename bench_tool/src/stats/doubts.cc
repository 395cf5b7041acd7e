// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "judge/evidence.h"
#include "stats/verdict.h"

namespace syscost::bench::stats {
namespace {

/// Runs of each side from which on a count can be decided.
std::size_t runs_needed(double needed) {
  std::size_t n = 1;
  while (judge::arrangements(n, n) < needed) ++n;
  return n;
}

/// Why counts of `row` that are still in doubt may differ by chance.
std::string_view why_chance(const Comparison& row) {
  if (row.old_window->has_other_threads.value_or(false) || row.new_window->has_other_threads.value_or(false)) {
    return "other threads made calls";
  }
  const auto all = [&](auto is) {
    return std::all_of(row.deltas.begin(), row.deltas.end(),
                       [&](const Delta& one) { return !one.is_in_doubt || is(one); });
  };
  if (all([](const Delta& one) { return one.is_by_heap; })) return "the heap is as the program's threads left it";
  // Counts that agree are in doubt only in files that do not tell which threads made the calls.
  if (all([](const Delta& one) { return one.is_exact(); })) return "other threads may have made calls";
  return "counts vary";
}

}  // namespace

void decide_doubts(std::vector<Comparison>& rows) {
  double varying = 0;
  for (const Comparison& row : rows) varying += row.is_by_counts() ? static_cast<double>(row.varying) : 0;
  const double needed = judge::kFalseRedOnceIn * varying;
  for (Comparison& row : rows) {
    if (!row.is_by_counts()) continue;
    bool is_decided = false;
    bool is_open = false;
    for (Delta& delta : row.deltas) {
      if (!delta.is_in_doubt) continue;
      delta.is_in_doubt = judge::arrangements(delta.new_count.n, delta.old_count.n) < needed;
      if (!delta.is_in_doubt) delta.rule = Rule::all_runs;
      is_decided = is_decided || !delta.is_in_doubt;
      is_open = is_open || (delta.is_in_doubt && !delta.is_accepted);
    }
    if (is_decided) conclude(row);
    if (!is_open || row.verdict != Verdict::in_doubt) continue;
    row.add_reason(
        fmt::format("{}, so it may be chance: {} runs of each side tell", why_chance(row), runs_needed(needed)));
  }
}

}  // namespace syscost::bench::stats
