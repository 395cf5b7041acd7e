// SPDX-License-Identifier: MIT
//
// How times grow: the best of the usual complexities, and the part of a time that does not grow.
//
// Times scatter, so that their growth is fitted and has an error; counts are solved (solve_law.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace syscost::bench::scale {

enum class Complexity { constant, log_n, linear, n_log_n, square, cube };

/// `O(1)`, `O(log n)`, `O(n)`, `O(n log n)`, `O(n^2)`, `O(n^3)`.
std::string_view to_string(Complexity complexity);
/// The curve at `n` >= 1; the logarithm is that of 2.
double value_of(Complexity complexity, double n);

/// The time of a size.
struct TimePoint {
  double n = 0;
  double time_ns = 0;
};

/// time = coefficient * curve(n), by least squares, as Google Benchmark's Complexity() has it.
struct ComplexityFit {
  Complexity complexity = Complexity::constant;
  double coefficient_ns = 0;
  double error = 0;  ///< Root of the mean square of what is left, divided by the mean time.
  /// The best complexity without the largest size. If it is another one, that size alone decides.
  Complexity without_largest = Complexity::constant;

  bool is_stable() const { return without_largest == complexity; }
};

/// The complexity with the smallest error; of equal ones the first. nullopt for fewer than kFewestSizes sizes.
std::optional<ComplexityFit> best_complexity(const std::vector<TimePoint>& points);

/// time = fixed + growing * curve(n), by least squares of relative deviations, so that short times count as much as
/// long ones.
struct FixedCost {
  Complexity complexity = Complexity::linear;
  double fixed_ns = 0;
  double growing_ns = 0;    ///< For each unit of the curve.
  double error = 0;         ///< Root of the mean square of relative deviations.
  double fixed_low_ns = 0;  ///< The interval of 95 % of the fixed part, if deviations are random.
  double fixed_high_ns = 0;
  double growing_low_ns = 0;  ///< The growing part is at least this; wrong for 1 % of flat times, over all curves.

  /// True if the fixed part is known to within a half, and chance does not explain that the times grow.
  bool has_both() const { return fixed_ns > 0 && fixed_low_ns > fixed_ns / 2 && growing_low_ns > 0; }
};

/// The fit with the smallest error over the growing curves. nullopt for fewer than kFewestSizes sizes, or where no
/// curve has a growing part.
std::optional<FixedCost> fixed_cost(const std::vector<TimePoint>& points);

/// The smallest n from which the fixed part is at most `share` (0 to 1) of the whole; at least 1.
double n_where_fixed_is(double share, double fixed, double growing, Complexity complexity);

inline constexpr std::size_t kFewestSizes = 4;

}  // namespace syscost::bench::scale
