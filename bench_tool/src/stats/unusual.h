// SPDX-License-Identifier: MIT
//
// Unusual values of a series that is watched: what does not fit to the values just before it.
//
// z = (value - median) / scale, over the values of the last minute. The scale is the median absolute deviation times
// 1.4826, which is the standard deviation for normal values and which single outliers do not move (Iglewicz and
// Hoaglin, How to Detect and Handle Outliers, 1993). It is never taken for less than counting allows: a series that was
// constant has a deviation of 0, and one call more would be infinitely unusual. docs/statistics.md has how often values
// that belong to the series are called unusual.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace syscost::bench::stats {

enum class Severity { low, medium, high };
std::string_view to_string(Severity severity);

struct Unusual {
  Severity severity{};
  double usual = 0;  ///< The median of the values before.
  double z = 0;      ///< Negative where the value is lower.
};

/// With fewer values before it nothing is known of what is usual.
inline constexpr std::size_t kLeastBefore = 20;

/// The least scale of a value. It may differ by this although nothing changed, even if the values before it are equal.
enum class Measure {
  count,     ///< Calls of an interval: the square root of the median, at least 1.
  duration,  ///< A mean time: a twentieth of the median.
};

/// Judges `value` against the values `before` it. None if it fits, if `before` has fewer than kLeastBefore values, or
/// if one of them was as high or as low: something that happens every half minute is not unusual.
std::optional<Unusual> judge_unusual(double value, std::span<const double> before, Measure measure);

}  // namespace syscost::bench::stats
