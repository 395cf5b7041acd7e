// SPDX-License-Identifier: MIT
//
// Latency: the summed histogram of one syscall over all repetitions of a test, and its statistics with their errors.
//
// Percentiles of repetitions cannot be averaged, but histograms can be added. So the histograms are decoded and summed
// here, and every percentile is read from the sum, if the sum holds enough calls.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "csv/problems.h"
#include "model/choice.h"
#include "model/dataset.h"
#include "stats/significance.h"
#include "syscost/histogram.h"

namespace syscost::bench::stats {

inline constexpr std::array<double, 5> kPercentiles = {0.50, 0.75, 0.90, 0.95, 0.99};

struct SyscallLatency {
  std::string name;  ///< `write`, `ioctl TCGETS`
  std::string_view classes;
  std::optional<std::uint64_t> calls;  ///< Sum over repetitions; nullopt where not measured.
  bool counts_entries = false;         ///< These are entries, because a row has no calls.
  std::optional<std::uint64_t> errors;
  std::optional<std::uint64_t> per_run_calls;  ///< The part of `calls` made once per run of a benchmark's loop.
  std::map<std::string, std::uint64_t, std::less<>> errnos;
  std::optional<std::uint64_t> bytes;  ///< Sums, as calls: nullopt where the file has none.
  std::optional<std::uint64_t> bytes_released;
  std::optional<std::uint64_t> short_calls;
  std::optional<std::uint64_t> altered;
  bool is_timed = false;  ///< Every row has latencies.
  Histogram latency;
  /// Counted by a tool: a value may lie anywhere in its power of two. So there are no percentiles, and these may be
  /// empty.
  bool is_coarse = false;
  std::optional<std::uint64_t> min_ns;  ///< Empty where unknown.
  std::optional<std::uint64_t> max_ns;
};

/// The syscalls of a group, most kernel time first; those of `choice` only. A histogram that contradicts its row is
/// noted in `problems` and leaves the syscall untimed.
std::vector<SyscallLatency> latencies_of(const model::Dataset& data, const model::Group& group,
                                         const model::SyscallChoice& choice, csv::Problems& problems);

/// Adds the latencies of a row that has them (latency_count and latency_sum_ns). Returns what is wrong with its
/// histogram; "" when they were added.
std::string add_latency(const model::Dataset& data, const model::SyscallRow& row, Histogram& sum);

/// The percentile, if at least 10 values lie beyond it; with fewer it would be a guess.
std::optional<std::uint64_t> percentile_ns(const Histogram& latency, double fraction);

/// A row of a drawn histogram: values in [lower_ns, upper_ns).
struct Bar {
  std::uint64_t lower_ns = 0;
  std::uint64_t upper_ns = 0;
  std::uint64_t count = 0;
};

/// The percentile of a syscall's latencies; none where its histogram is coarse.
std::optional<std::uint64_t> percentile_ns(const SyscallLatency& one, double fraction);

/// Buckets [first, last] as bars: one per bucket, or one per power of two.
std::vector<Bar> bars(const Histogram& latency, std::size_t first, std::size_t last, bool is_fine);

/// The level of the intervals of percentiles.
inline constexpr double kPercentileLevel = 0.95;

/// A percentile of latencies, in ns. Rows hold histograms, not single latencies. So it has two errors: the width of a
/// bucket, and chance, because other calls of the same program would have other latencies. Both are in its interval.
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

/// The deviation of a histogram that is not empty. Each latency is at most half a bucket from the middle of its bucket;
/// the deviation is at most the root mean square of these halves from that of the middles, because it is a seminorm.
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
