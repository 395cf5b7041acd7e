// SPDX-License-Identifier: MIT
//
// The kernel side and the user side compute a latency's bucket by different means; they must agree on every edge.
#include <gtest/gtest.h>

#include "backends/ebpf/shared.h"
#include "syscost/histogram.h"

namespace {

TEST(Buckets, KernelAndUserSideAgreeOnEveryEdge) {
  for (std::size_t bucket = 0; bucket < syscost::kHistogramBuckets; ++bucket) {
    std::uint64_t lower = syscost::histogram_lower_ns(bucket);
    for (std::uint64_t ns : {lower, lower + 1, syscost::histogram_upper_ns(bucket) - 1}) {
      EXPECT_EQ(syscost_bucket_of(ns), syscost::histogram_bucket(ns)) << ns << " ns";
    }
    EXPECT_EQ(syscost_bucket_of(lower), bucket);
  }
}

TEST(Buckets, BothSidesClampWhatIsTooLong) {
  for (std::uint64_t ns : {std::uint64_t{1} << 40, std::uint64_t{1} << 41, ~std::uint64_t{0}}) {
    EXPECT_EQ(syscost_bucket_of(ns), syscost::kHistogramBuckets - 1);
    EXPECT_EQ(syscost::histogram_bucket(ns), syscost::kHistogramBuckets - 1);
  }
}

}  // namespace
