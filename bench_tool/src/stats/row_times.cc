// SPDX-License-Identifier: MIT
#include "stats/row_times.h"

#include <cmath>
#include <utility>

namespace syscost::bench::stats {
namespace {

bool has_comparable_times(const Comparison& row, const ComparableTimes& comparable) {
  if (!row.is_paired() || row.verdict == Verdict::errored) return false;
  const WindowSummary& old_window = *row.old_window;
  const WindowSummary& new_window = *row.new_window;
  if (old_window.is_set_up() || new_window.is_set_up()) return false;
  if (old_window.is_per_iteration != new_window.is_per_iteration) return false;
  if (old_window.times_ns.empty() || new_window.times_ns.empty()) return false;
  return old_window.is_timed_apart() && new_window.is_timed_apart() ? comparable.unmeasured : comparable.measured;
}

/// What reading the clock twice adds to a loop's pass, at most.
constexpr double kClockNs = 100;

/// True where passes of different lengths share out the clock's part differently enough to look like this.
bool is_explained_by_clock(const Comparison& row) {
  const WindowSummary& old_window = *row.old_window;
  const WindowSummary& new_window = *row.new_window;
  if (old_window.kind != "loop" || new_window.kind != "loop" || !old_window.is_per_iteration) return false;
  if (!old_window.iterations || !new_window.iterations || !row.time->old_median || !row.time->new_median) return false;
  const double shares_ns =
      std::abs(kClockNs / old_window.iterations->median - kClockNs / new_window.iterations->median);
  return std::abs(row.time->new_median->median - row.time->old_median->median) <= shares_ns;
}

}  // namespace

bool samples_are_processes(const Comparison& row) {
  return row.is_paired() &&
         (row.old_window->process_times_ns.size() > 1 || row.new_window->process_times_ns.size() > 1);
}

void judge_row_times(std::vector<Comparison>& rows, const ComparableTimes& comparable, const TimeLimits& limits) {
  std::vector<TimeSamples> family;
  std::vector<Comparison*> judged;
  for (Comparison& row : rows) {
    if (!has_comparable_times(row, comparable)) continue;
    const auto samples = samples_are_processes(row) ? &WindowSummary::process_times_ns : &WindowSummary::times_ns;
    family.push_back({row.old_window->*samples, row.new_window->*samples});
    judged.push_back(&row);
  }
  std::vector<TimeVerdict> verdicts = judge_times(family, limits);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    Comparison& row = *judged[i];
    row.time = std::move(verdicts[i]);
    if ((row.has_time_verdict(Verdict::regressed) || row.has_time_verdict(Verdict::improved)) &&
        is_explained_by_clock(row)) {
      row.time->verdict = Verdict::inconclusive;
    }
    // Where one side was counted and the other cannot be, nothing is known of the counts: that stays the row's verdict.
    if (row.old_window->is_plain && row.new_window->is_plain) {
      row.is_plain = true;
      row.verdict = row.time->verdict;
      row.reason = row.time->reason;
    }
  }
}

bool is_undecided(const Comparison& row) {
  return row.has_time_verdict(Verdict::inconclusive) || row.has_time_verdict(Verdict::insufficient);
}

}  // namespace syscost::bench::stats
