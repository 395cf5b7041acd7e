// SPDX-License-Identifier: MIT
#include "core/tally.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace syscost {
namespace {

void expect_same(const Histogram& a, const Histogram& b) {
  EXPECT_EQ(a.count(), b.count());
  EXPECT_EQ(a.sum_ns(), b.sum_ns());
  EXPECT_EQ(a.min_ns(), b.min_ns());
  EXPECT_EQ(a.max_ns(), b.max_ns());
  for (std::size_t bucket = 0; bucket < kHistogramBuckets; ++bucket) {
    EXPECT_EQ(a.bucket_count(bucket), b.bucket_count(bucket)) << "bucket " << bucket;
  }
}

TEST(SparseHistogram, HoldsTheSameNumbersAsOneWithAllBuckets) {
  std::mt19937_64 random(7);
  Histogram dense;
  SparseHistogram sparse(std::pmr::get_default_resource());
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t ns = random() >> (20 + random() % 44);
    dense.add(ns);
    sparse.add(ns);
  }
  expect_same(sparse.dense(), dense);
}

TEST(SparseHistogram, MergesLikeOneWithAllBuckets) {
  std::mt19937_64 random(8);
  Histogram dense;
  SparseHistogram sum(std::pmr::get_default_resource());
  for (int part = 0; part < 20; ++part) {
    SparseHistogram one(std::pmr::get_default_resource());
    for (int i = 0; i < part; ++i) {
      const std::uint64_t ns = random() >> (24 + random() % 40);
      dense.add(ns);
      one.add(ns);
    }
    sum.merge(one);
  }
  expect_same(sum.dense(), dense);
  sum.clear();
  expect_same(sum.dense(), Histogram());
}

TEST(SparseHistogram, KeepsOnlyBucketsThatHoldSomething) {
  std::array<std::byte, 1024> bytes;
  std::pmr::monotonic_buffer_resource few(bytes.data(), bytes.size(), std::pmr::null_memory_resource());
  SparseHistogram sparse(&few);
  sparse.add_bucket(200, 0);
  for (int i = 0; i < 100'000; ++i) sparse.add(std::uint64_t{100} << (i % 8));
  EXPECT_EQ(sparse.dense().bucket_count(histogram_bucket(100)), 12'500U);
  EXPECT_EQ(sparse.dense().bucket_count(200), 0U);
}

}  // namespace
}  // namespace syscost
