// SPDX-License-Identifier: MIT
//
// Change points: where in a history the times changed, and not merely varied.
//
// One run's time says little, and a history has many places to look at: the largest of many differences is large by
// chance. So the whole history is judged at once. Each place splits it in two, and the place counts at which the ranks
// of the two sides are furthest apart (Mann-Whitney's statistic, standardised). Chance is what the same values give in
// another order: where at most one in a hundred orders has a place as far apart, it is a change, and each side is
// looked at alike. docs/statistics.md has what this finds and invents.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace syscost::bench::stats {

/// With fewer values no order of them is rare enough.
inline constexpr std::size_t kLeastHistory = 8;

struct ChangePoint {
  std::size_t at = 0;  ///< The first value behind the change.
  double before = 0;   ///< Medians, from the change before and to the one behind.
  double after = 0;
};

/// The changes of `values`, in their order, by more than `threshold` (a share) of what was before. Deterministic.
std::vector<ChangePoint> change_points(std::span<const double> values, double threshold);

}  // namespace syscost::bench::stats
