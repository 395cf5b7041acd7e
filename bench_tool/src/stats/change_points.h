// SPDX-License-Identifier: MIT
//
// Change points: where in a history the times changed, and did not merely vary.
//
// The time of one run says little. A history has many places, and the largest of many differences is large by chance.
// So the whole history is judged at once. Each place splits it in two. The place counts at which the ranks of the two
// sides are furthest apart (Mann-Whitney's statistic, standardised). Random orders of the same values show what chance
// does. If at most one in a hundred orders has a place as far apart, it is a change, and each side is then judged in
// the same way. docs/statistics.md has the rates of found changes and of false alarms.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace syscost::bench::stats {

/// With fewer values no order is rare enough to show a change. The clearest order of 10 values comes in 0.8 % of all
/// orders, but in more than 1 % of those that are drawn.
inline constexpr std::size_t kLeastHistory = 11;

struct ChangePoint {
  std::size_t at = 0;  ///< The first value after the change.
  double before = 0;   ///< Medians of the values since the previous change and up to the next one.
  double after = 0;
};

/// The changes of `values`, in their order, by more than `threshold` (a share) of what was before. Deterministic.
std::vector<ChangePoint> change_points(std::span<const double> values, double threshold);

}  // namespace syscost::bench::stats
