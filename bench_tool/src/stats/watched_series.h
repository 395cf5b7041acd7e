// SPDX-License-Identifier: MIT
//
// watched_series: the time of a command in pieces, as `bench run --interval` wrote them, and the values that do not fit
// to those just before them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/dataset.h"

namespace syscost::bench::stats {

enum class Severity { low, medium, high };
std::string_view to_string(Severity severity);

/// A value of a series that is watched which does not fit to the values just before it.
///
/// z = (value - median) / scale, over the values of the last minute. The scale is the median absolute deviation times
/// 1.4826, which is the standard deviation for normal values and which single outliers do not move (Iglewicz and
/// Hoaglin, How to Detect and Handle Outliers, 1993). It is never taken for less than counting allows: a series that
/// was constant has a deviation of 0, and one call more would be infinitely unusual. docs/statistics.md has how often
/// values that belong to the series are called unusual.
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

/// One syscall in one interval.
struct IntervalCalls {
  double calls = 0;  ///< Entries where the backend knows no calls.
  std::optional<double> errors;
  std::optional<double> kernel_ns;
  std::uint32_t sample = 0;  ///< Index into the dataset's samples: finds the histogram.
  bool is_wait = false;
};

struct WatchedInterval {
  std::uint64_t number = 0;  ///< Counts from 0.
  double begin_s = 0;        ///< Since the first interval began.
  double seconds = 0;
  bool has_losses = false;  ///< Its counts are lower bounds.
  bool is_whole =
      false;  ///< It was counted, and its rows add up to its totals. Else a syscall without a row is unknown.
  std::map<std::string, IntervalCalls, std::less<>> by_syscall;
  std::uint32_t sample = 0;
};

/// The intervals of the newest run in the data, in order. `command` becomes the name of its command.
std::vector<WatchedInterval> intervals_of(const model::Dataset& data, std::string& command);

/// The figures that are compared with the minute before.
enum class Watched { calls, errors, time_per_call };

struct Finding {
  std::size_t interval = 0;  ///< Index.
  std::string syscall;
  Watched what{};
  double value = 0;  ///< Calls or errors in an interval of this length, or the time of a call in ns.
  Unusual unusual;
};

/// Compares intervals[at] with the intervals of the minute before it. Returns the unusual figures, the most unusual one
/// first; none if the interval was cut off, so that it is shorter than half of those before.
std::vector<Finding> findings_in(const std::vector<WatchedInterval>& intervals, std::size_t at);

/// Returns the index of the first interval in the minute before intervals[at]. If intervals are long, it goes back 30
/// of them.
std::size_t first_of_minute(const std::vector<WatchedInterval>& intervals, std::size_t at);

}  // namespace syscost::bench::stats
