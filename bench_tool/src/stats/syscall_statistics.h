// SPDX-License-Identifier: MIT
//
// Syscall statistics: mean, deviation and percentiles of a syscall's latencies, each with its error.
//
// Rows hold histograms, not single latencies. So a percentile has two errors: the width of a bucket, and chance,
// because other calls of the same program would have other latencies. Both are in its interval.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "csv/problems.h"
#include "model/dataset.h"
#include "model/group.h"
#include "stats/interval.h"
#include "syscost/histogram.h"

namespace syscost::bench::stats {

/// The level of the intervals of percentiles.
inline constexpr double kPercentileLevel = 0.95;

/// A percentile of latencies, in ns.
struct Percentile {
  double fraction = 0;
  double low_ns = 0;   ///< The percentile of these calls is at least this,
  double high_ns = 0;  ///< and at most this: the bounds of its bucket, within the least and the greatest latency.
  /// Where the percentile of all such calls lies with kPercentileLevel: two order statistics, with ranks from the
  /// binomial distribution (Conover, Practical Nonparametric Statistics, 3.2), each with its bucket. For calls that are
  /// independent of each other. None if these calls are too few.
  std::optional<Interval> interval;
};

/// The nearest-rank percentile of a histogram that is not empty, 0 < `fraction` < 1.
Percentile percentile_of(const Histogram& latency, double fraction);

/// The standard deviation (of the calls themselves, divided by n), in ns: at least `low_ns`, at most `high_ns`.
struct Deviation {
  double low_ns = 0;
  double high_ns = 0;
};

/// Of a histogram that is not empty. Each latency is at most half a bucket from the middle of its bucket; the deviation
/// is at most the root mean square of these halves from that of the middles, because it is a seminorm.
Deviation deviation_of(const Histogram& latency);

/// A syscall over all tests of a run.
struct SyscallStatistics {
  std::string name;  ///< `write`, `ioctl TCGETS`
  std::string_view classes;
  std::size_t tests = 0;               ///< That make it.
  std::optional<std::uint64_t> calls;  ///< Sum over tests and repetitions; nullopt where not measured.
  bool is_timed = true;                ///< Every row has latencies.
  Histogram latency;
};

/// The syscalls of all tests (windows of kind `test` that syscost counted), most kernel time first. `data` was loaded
/// with LoadOptions::keep_histograms. Histograms that contradict their rows are noted in `problems`.
std::vector<SyscallStatistics> syscall_statistics(const model::Dataset& data, const std::vector<model::Group>& groups,
                                                  csv::Problems& problems);

}  // namespace syscost::bench::stats
