// SPDX-License-Identifier: MIT
#include "stats/races.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

#include "model/lists.h"

namespace syscost::bench::stats {
namespace {

// docs/statistics.md says where these come from.
constexpr std::size_t kTogether = 3;    // so many counts that change together are the test's noise
constexpr double kFewest = 5;           // calls, below which a change of one is no small one
constexpr double kAlone = 0.005;        // what one run on each side may differ by in a count that changes alone
constexpr double kLeastNoise = 0.05;    // of the test's counts, where they change together
constexpr double kMostNoise = 1.0 / 3;  // what one run on each side may differ by
constexpr std::size_t kKnownNoise = 3;  // from so many repetitions on OLD says how far its counts vary
constexpr double kMargin = 1;           // ranges of OLD

const SyscallSummary& summary_of(const Comparison& row, const Delta& delta) {
  for (const WindowSummary* window : {row.old_window, row.new_window}) {
    for (const SyscallSummary& one : window->syscalls) {
      if (one.name == delta.syscall) return one;
    }
  }
  static const SyscallSummary kNone;
  return kNone;
}

/// A blocking call that some thread makes; null where none does.
const SyscallSummary* find_wait(const Comparison& row) {
  for (const WindowSummary* window : {row.old_window, row.new_window}) {
    for (const SyscallSummary& one : window->syscalls) {
      if (one.is_wait && model::has_class(one.classes, "volatile")) return &one;
    }
  }
  return nullptr;
}

bool waits_differ(const Comparison& row) {
  return std::any_of(row.deltas.begin(), row.deltas.end(), [&](const Delta& delta) {
    return delta.is_volatile && delta.errno_name.empty() && summary_of(row, delta).is_wait;
  });
}

bool is_part_of_noise(const Delta& delta) {
  return delta.is_gated() && delta.errno_name.empty() && delta.old_count.median >= kFewest;
}

/// How far the counts of such a test vary: a share.
double noise_of(const Comparison& row, bool change_together) {
  // Runs that agree show that a count does not vary, whatever the threads do.
  const bool is_known = row.old_window->n >= kKnownNoise;
  if (!change_together) return is_known || !waits_differ(row) ? 0 : kAlone;
  if (!is_known) return kMostNoise;
  double widest = 0;
  for (const Delta& delta : row.deltas) {
    if (!is_part_of_noise(delta)) continue;
    widest = std::max(widest, (delta.old_count.max - delta.old_count.min) / delta.old_count.median);
  }
  return std::clamp(kMargin * widest, kLeastNoise, kMostNoise);
}

}  // namespace

void allow_for_races(const CountPolicy& policy, Comparison& row) {
  if (!row.is_paired() || row.old_window->is_per_iteration) return;
  const SyscallSummary* wait = find_wait(row);
  if (wait == nullptr) return;
  std::set<std::string_view> together;
  for (const Delta& delta : row.deltas) {
    if (is_part_of_noise(delta)) together.insert(delta.syscall);
  }
  const double noise = noise_of(row, together.size() >= kTogether);
  bool has_calmed = false;
  for (Delta& delta : row.deltas) {
    if (delta.is_volatile || (delta.change != Change::grew && delta.change != Change::shrank)) continue;
    const double apart = delta.change == Change::grew ? delta.new_count.min - delta.old_count.max
                                                      : delta.old_count.min - delta.new_count.max;
    const bool is_exact = policy.tolerance_of(delta.syscall, summary_of(row, delta).classes).rel <= 0;
    if (is_exact || delta.old_count.median < kFewest || apart > noise * delta.old_count.median) continue;
    delta.change = Change::near;
    has_calmed = true;
  }
  if (!has_calmed) return;
  row.verdict = verdict_of(row.deltas, row.verdict == Verdict::inconclusive);
  if (row.verdict != Verdict::near) return;
  row.reason = fmt::format("it waits for others ({}): changes up to {:.3g} % may be chance", wait->name, 100 * noise);
}

}  // namespace syscost::bench::stats
