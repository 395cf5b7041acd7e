// SPDX-License-Identifier: MIT
//
// A watched series: the time of a command in pieces, as `bench run --interval` wrote them, and what is unusual in one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/dataset.h"
#include "stats/unusual.h"

namespace syscost::bench::stats {

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
