// SPDX-License-Identifier: MIT
//
// The latency histogram: log-linear, 8 sub-buckets per power of two, integers only.
//
// A run produces millions of latencies; keeping them is too much and a mean hides the tail. This layout keeps
// every value from 1 ns to 2^40 ns (18 minutes) in one of 304 buckets, each at most 12.5 % wide, with shifts and
// no floating point, so that the kernel side, the measured process and `bench` compute the very same
// bucket. Histograms of different repetitions, threads or processes add up exactly, bucket by bucket;
// percentiles are read from such sums, never averaged.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace syscost {

/// Sub-buckets per power of two, as a power of two: 2^3 = 8.
inline constexpr unsigned kHistogramSubBits = 3;
inline constexpr std::uint64_t kHistogramSubBuckets = std::uint64_t{1} << kHistogramSubBits;
/// Values from 2^40 ns on are counted in the last bucket.
inline constexpr unsigned kHistogramMaxBits = 40;
/// 8 buckets for 0..7 ns, then 8 for each of the powers 2^3..2^39.
inline constexpr std::size_t kHistogramBuckets =
    kHistogramSubBuckets + (kHistogramMaxBits - kHistogramSubBits) * kHistogramSubBuckets;
static_assert(kHistogramBuckets == 304);

/// Bucket that counts a latency of `ns`.
constexpr std::size_t histogram_bucket(std::uint64_t ns) {
  if (ns < kHistogramSubBuckets) return ns;
  if (ns >= std::uint64_t{1} << kHistogramMaxBits) return kHistogramBuckets - 1;
  unsigned exponent = 63U - static_cast<unsigned>(__builtin_clzll(ns));
  std::uint64_t sub = (ns >> (exponent - kHistogramSubBits)) & (kHistogramSubBuckets - 1);
  return (exponent - kHistogramSubBits + 1) * kHistogramSubBuckets + sub;
}

/// Smallest latency, in ns, that falls into `bucket`.
constexpr std::uint64_t histogram_lower_ns(std::size_t bucket) {
  if (bucket < kHistogramSubBuckets) return bucket;
  unsigned exponent = static_cast<unsigned>(bucket / kHistogramSubBuckets) + kHistogramSubBits - 1;
  std::uint64_t sub = bucket % kHistogramSubBuckets;
  return (std::uint64_t{1} << exponent) + (sub << (exponent - kHistogramSubBits));
}

/// First latency, in ns, beyond `bucket`: the next bucket's lower bound.
constexpr std::uint64_t histogram_upper_ns(std::size_t bucket) {
  return bucket + 1 < kHistogramBuckets ? histogram_lower_ns(bucket + 1) : std::uint64_t{1} << kHistogramMaxBits;
}

/// Counts per bucket with the exact count, sum, minimum and maximum beside them. Plain data: not thread-safe.
class Histogram {
 public:
  /// Counts one latency.
  void add(std::uint64_t ns) {
    add_bucket(histogram_bucket(ns), 1);
    add_exact(1, ns, ns, ns);
  }

  /// Adds `count` values to one bucket, without touching the exact figures (see add_exact).
  void add_bucket(std::size_t bucket, std::uint64_t count) { buckets_[bucket] += count; }

  /// Adds the exact figures of `count` values (which were, or will be, added to buckets). No effect for 0 values.
  void add_exact(std::uint64_t count, std::uint64_t sum_ns, std::uint64_t min_ns, std::uint64_t max_ns) {
    if (count == 0) return;
    min_ns_ = count_ == 0 ? min_ns : std::min(min_ns_, min_ns);
    max_ns_ = std::max(max_ns_, max_ns);
    count_ += count;
    sum_ns_ += sum_ns;
  }

  /// Adds another histogram, exactly.
  void merge(const Histogram& other) {
    for (std::size_t i = 0; i < kHistogramBuckets; ++i) buckets_[i] += other.buckets_[i];
    add_exact(other.count_, other.sum_ns_, other.min_ns_, other.max_ns_);
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t sum_ns() const { return sum_ns_; }
  std::uint64_t min_ns() const { return min_ns_; }  ///< 0 when count() is 0.
  std::uint64_t max_ns() const { return max_ns_; }  ///< 0 when count() is 0.
  std::uint64_t bucket_count(std::size_t bucket) const { return buckets_[bucket]; }

  /// The nearest-rank percentile (0 < `fraction` <= 1): the ceil(fraction * count)-th smallest latency, in ns, as the
  /// midpoint of its bucket kept within [min_ns, max_ns]. The error is at most half a bucket: 6.25 % of the value.
  /// 0 when count() is 0: ask count() first.
  std::uint64_t percentile_ns(double fraction) const {
    if (count_ == 0) return 0;
    double exact_rank = fraction * static_cast<double>(count_);
    auto rank = static_cast<std::uint64_t>(exact_rank);
    if (static_cast<double>(rank) < exact_rank) ++rank;
    rank = std::clamp<std::uint64_t>(rank, 1, count_);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < kHistogramBuckets; ++i) {
      seen += buckets_[i];
      if (seen >= rank) {
        std::uint64_t lower = histogram_lower_ns(i);
        std::uint64_t middle = lower + (histogram_upper_ns(i) - lower) / 2;
        return std::clamp(middle, min_ns_, max_ns_);
      }
    }
    return max_ns_;
  }

 private:
  std::array<std::uint64_t, kHistogramBuckets> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t sum_ns_ = 0;
  std::uint64_t min_ns_ = 0;
  std::uint64_t max_ns_ = 0;
};

}  // namespace syscost
