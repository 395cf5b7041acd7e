// SPDX-License-Identifier: MIT
//
// Latency: the summed histogram of one syscall over all repetitions of a test.
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
#include "model/dataset.h"
#include "model/group.h"
#include "model/syscall_choice.h"
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
  std::optional<std::uint64_t> injected;
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

/// The same of a syscall; none where its histogram is coarse.
std::optional<std::uint64_t> percentile_ns(const SyscallLatency& one, double fraction);

/// Buckets [first, last] as bars: one per bucket, or one per power of two.
std::vector<Bar> bars(const Histogram& latency, std::size_t first, std::size_t last, bool is_fine);

}  // namespace syscost::bench::stats
