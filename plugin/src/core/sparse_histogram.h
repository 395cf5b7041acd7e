// SPDX-License-Identifier: MIT
//
// SparseHistogram: the buckets of syscost/histogram.h that hold something.
//
// The latencies of one syscall in one test fall into a handful of the 304 buckets. A thousand named scopes in one test
// wait for their rows in memory reserved beforehand (quiet_memory.h): with every bucket kept, 2.4 KiB per syscall, it
// was used up, and the syscalls that malloc then made were charged to the user's test.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "syscost/histogram.h"

namespace syscost {

/// The same numbers as Histogram, in memory of the given resource. Plain data: not thread-safe.
class SparseHistogram {
 public:
  explicit SparseHistogram(std::pmr::memory_resource* memory) : buckets_(memory) {}

  void add(std::uint64_t ns) {
    add_bucket(histogram_bucket(ns), 1);
    add_exact(1, ns, ns, ns);
  }
  /// Adds `count` values to one bucket, without touching the exact figures. Cheapest in ascending order.
  void add_bucket(std::size_t bucket, std::uint64_t count) {
    if (count == 0) return;
    auto at = buckets_.end();
    if (!buckets_.empty() && buckets_.back().bucket >= bucket) {
      at = std::lower_bound(buckets_.begin(), buckets_.end(), bucket,
                            [](const Bucket& one, std::size_t value) { return one.bucket < value; });
    }
    if (at == buckets_.end() || at->bucket != bucket) {
      at = buckets_.insert(at, Bucket{static_cast<std::uint32_t>(bucket), 0});
    }
    at->count += count;
  }
  /// Adds the exact figures of `count` values (which were, or will be, added to buckets). No effect for 0 values.
  void add_exact(std::uint64_t count, std::uint64_t sum_ns, std::uint64_t min_ns, std::uint64_t max_ns) {
    if (count == 0) return;
    min_ns_ = count_ == 0 ? min_ns : std::min(min_ns_, min_ns);
    max_ns_ = std::max(max_ns_, max_ns);
    count_ += count;
    sum_ns_ += sum_ns;
  }
  void merge(const SparseHistogram& other) {
    if (buckets_.empty()) {
      buckets_.assign(other.buckets_.begin(), other.buckets_.end());
    } else {
      for (const Bucket& one : other.buckets_) add_bucket(one.bucket, one.count);
    }
    add_exact(other.count_, other.sum_ns_, other.min_ns_, other.max_ns_);
  }
  /// Keeps the memory for the next use.
  void clear() {
    buckets_.clear();
    count_ = sum_ns_ = min_ns_ = max_ns_ = 0;
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t sum_ns() const { return sum_ns_; }
  std::uint64_t min_ns() const { return min_ns_; }  ///< 0 when count() is 0.
  std::uint64_t max_ns() const { return max_ns_; }  ///< 0 when count() is 0.

  /// With all its buckets, for readers.
  Histogram dense() const {
    Histogram all;
    for (const Bucket& one : buckets_) all.add_bucket(one.bucket, one.count);
    all.add_exact(count_, sum_ns_, min_ns_, max_ns_);
    return all;
  }

 private:
  struct Bucket {
    std::uint32_t bucket;
    std::uint64_t count;
  };

  std::pmr::vector<Bucket> buckets_;  // ascending; none holds 0
  std::uint64_t count_ = 0;
  std::uint64_t sum_ns_ = 0;
  std::uint64_t min_ns_ = 0;
  std::uint64_t max_ns_ = 0;
};

}  // namespace syscost
