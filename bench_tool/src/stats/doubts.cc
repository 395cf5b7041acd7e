// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstddef>

#include "stats/verdict.h"

namespace syscost::bench::stats {
namespace {

/// C(n + m, n): in how many ways n + m runs may be those of two programs.
double arrangements(std::size_t n, std::size_t m) {
  double all = 1;
  for (std::size_t i = 1; i <= n; ++i) all = all * static_cast<double>(m + i) / static_cast<double>(i);
  return all;
}

/// Runs of each side from which on a count can be decided.
std::size_t runs_needed(double needed) {
  std::size_t n = 1;
  while (arrangements(n, n) < needed) ++n;
  return n;
}

}  // namespace

void decide_doubts(std::vector<Comparison>& rows) {
  const auto is_judged = [](const Comparison& row) {
    return row.is_paired() && !row.has_fault && row.verdict != Verdict::incomparable;
  };
  double varying = 0;
  for (const Comparison& row : rows) varying += is_judged(row) ? static_cast<double>(row.varying) : 0;
  const double needed = kFalseRedOnceIn * varying;
  for (Comparison& row : rows) {
    if (!is_judged(row)) continue;
    bool is_decided = false;
    bool is_open = false;
    bool is_by_heap = true;
    for (Delta& delta : row.deltas) {
      if (!delta.is_in_doubt) continue;
      delta.is_in_doubt = arrangements(delta.new_count.n, delta.old_count.n) < needed;
      is_decided = is_decided || !delta.is_in_doubt;
      is_open = is_open || delta.is_in_doubt;
      is_by_heap = is_by_heap && (delta.is_by_heap || !delta.is_in_doubt);
    }
    if (is_decided) conclude(row);
    if (!is_open || row.verdict != Verdict::in_doubt) continue;
    const bool has_others = row.new_window->has_other_threads.value_or(true);
    row.reason += fmt::format("{}{} may be chance: {} runs of each side tell", row.reason.empty() ? "" : "; ",
                              has_others   ? "other threads made calls, so it"
                              : is_by_heap ? "the heap is as the program's threads left it, so it"
                                           : "counts vary, so it",
                              runs_needed(needed));
  }
}

}  // namespace syscost::bench::stats
