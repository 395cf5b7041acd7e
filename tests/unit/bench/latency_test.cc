// SPDX-License-Identifier: MIT
#include "stats/latency.h"

#include <gtest/gtest.h>

#include "model/row_parser.h"

namespace syscost::bench {
namespace {

TEST(HistogramText, RefusesBoundsThatNoBucketStartsAt) {
  Histogram histogram;
  EXPECT_TRUE(model::add_histogram_text("104:2 112:1", histogram));
  EXPECT_EQ(histogram.bucket_count(histogram_bucket(104)), 2U);
  EXPECT_FALSE(model::add_histogram_text("105:2", histogram));
  EXPECT_FALSE(model::add_histogram_text("1099511627776:1", histogram));
}

TEST(Percentile, IsOnlyThereWithTenValuesBeyondIt) {
  Histogram histogram;
  for (int i = 0; i < 99; ++i) histogram.add(100);
  EXPECT_FALSE(stats::percentile_ns(histogram, 0.90).has_value());
  histogram.add(100);
  EXPECT_TRUE(stats::percentile_ns(histogram, 0.90).has_value());
  EXPECT_FALSE(stats::percentile_ns(histogram, 0.99).has_value());
}

TEST(Bars, AreWholePowersOfTwoOnACommonAxis) {
  Histogram histogram;
  histogram.add(110);
  histogram.add(600);
  const auto rows = stats::bars(histogram, histogram_bucket(110), histogram_bucket(600), false);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].lower_ns, 64U);
  EXPECT_EQ(rows[0].upper_ns, 128U);
  EXPECT_EQ(rows[0].count, 1U);
  EXPECT_EQ(rows[3].lower_ns, 512U);
  EXPECT_EQ(rows[3].upper_ns, 1024U);
  EXPECT_EQ(rows[3].count, 1U);
}

TEST(Bars, AddUpToAllValuesInBothResolutions) {
  Histogram histogram;
  for (std::uint64_t ns = 0; ns < 5000; ns += 3) histogram.add(ns);
  for (bool is_fine : {false, true}) {
    std::uint64_t sum = 0;
    std::uint64_t expected_lower = 0;
    for (const stats::Bar& bar : stats::bars(histogram, 0, kHistogramBuckets - 1, is_fine)) {
      EXPECT_EQ(bar.lower_ns, expected_lower);  // no gap, no overlap
      expected_lower = bar.upper_ns;
      sum += bar.count;
    }
    EXPECT_EQ(sum, histogram.count());
    EXPECT_EQ(expected_lower, std::uint64_t{1} << kHistogramMaxBits);
  }
}

}  // namespace
}  // namespace syscost::bench
