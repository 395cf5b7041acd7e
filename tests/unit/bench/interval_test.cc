// SPDX-License-Identifier: MIT
#include "stats/significance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace syscost::bench::stats {
namespace {

using Values = std::vector<double>;

Values ascending(std::size_t n) {
  Values values(n);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(MedianInterval, IsMadeOfOrderStatistics) {
  // Tables of Conover: 10 samples: the 2nd and the 9th, 97.9 %; 20: the 6th and the 15th, 95.9 %.
  const MedianInterval ten = median_interval({10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 0.95);
  EXPECT_EQ(ten.median, 5.5);
  ASSERT_TRUE(ten.interval.has_value());
  EXPECT_EQ(ten.interval->low, 2);
  EXPECT_EQ(ten.interval->high, 9);
  EXPECT_NEAR(ten.interval->level, 1 - 22.0 / 1024, 1e-12);
  const MedianInterval twenty = median_interval(ascending(20), 0.95);
  EXPECT_EQ(twenty.interval->low, 6);
  EXPECT_EQ(twenty.interval->high, 15);
}

TEST(MedianInterval, IsNoneWhereTheSamplesAreTooFew) {
  EXPECT_FALSE(median_interval(ascending(1), 0.95).interval.has_value());
  EXPECT_FALSE(median_interval(ascending(5), 0.95).interval.has_value());
  EXPECT_TRUE(median_interval(ascending(6), 0.95).interval.has_value());
  EXPECT_EQ(median_interval(ascending(5), 0.95).median, 3);
}

TEST(ShiftRatio, IsTheMedianOfAllRatios) {
  const Values old_values = {10, 20, 40};
  const Values new_values = {20, 40, 80};
  EXPECT_NEAR(shift_ratio(old_values, new_values, 0.95).estimate, 2, 1e-12);
  EXPECT_NEAR(shift_ratio(new_values, old_values, 0.95).estimate, 0.5, 1e-12);
  // An even number of ratios: the geometric middle of 2 and 3.
  EXPECT_NEAR(shift_ratio(Values{1}, Values{2, 3}, 0.95).estimate, std::sqrt(6.0), 1e-12);
  EXPECT_FALSE(shift_ratio(old_values, new_values, 0.95).interval.has_value()) << "3 against 3 cannot attain 95 %";
}

TEST(ShiftRatio, HasTheIntervalOfAllRatiosCountedOut) {
  const Values old_values = {100, 103, 98, 101, 99, 107, 102};
  const Values new_values = {111, 109, 115, 104, 113, 112, 108};
  Values ratios;
  for (double one : old_values) {
    for (double other : new_values) ratios.push_back(other / one);
  }
  std::sort(ratios.begin(), ratios.end());
  const std::size_t tail = widest_tail(7, 7, 0.025)->count;  // 9: the critical value of U is 8
  EXPECT_EQ(tail, 9U);
  const Ratio ratio = shift_ratio(old_values, new_values, 0.95);
  EXPECT_NEAR(ratio.interval->low, ratios[tail - 1], 1e-12);
  EXPECT_NEAR(ratio.interval->high, ratios[ratios.size() - tail], 1e-12);
  EXPECT_NEAR(ratio.estimate, ratios[24], 1e-12);
  EXPECT_GE(ratio.interval->level, 0.95);
}

TEST(ShiftRatio, LeavesOneOutJustWhenTheTestRejects) {
  for (double slowdown : {1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.08}) {
    const Values old_values = {100, 101.5, 102.9, 99.2, 98.7, 100.7};
    Values new_values = {100.2, 103.1, 99.9, 98.1, 101.1, 102.2};
    for (double& value : new_values) value *= slowdown;
    const bool rejects = rank_test(old_values, new_values).p <= 0.05;
    EXPECT_EQ(shift_ratio(old_values, new_values, 0.95).interval->contains(1), !rejects) << slowdown;
  }
}

TEST(ShiftRatio, TakesSamplesThatAreAllEqual) {
  const Ratio ratio = shift_ratio(Values(8, 5.0), Values(8, 5.0), 0.95);
  EXPECT_EQ(ratio.estimate, 1);
  EXPECT_EQ(ratio.interval->low, 1);
  EXPECT_EQ(ratio.interval->high, 1);
}

TEST(ShiftRatio, DoesNotListThePairsOfLargeSamples) {
  const Values many = ascending(20000);  // 400 million pairs
  const Ratio ratio = shift_ratio(many, many, 0.95);
  EXPECT_NEAR(ratio.estimate, 1, 1e-12);
  EXPECT_TRUE(ratio.interval->contains(1));
}

}  // namespace
}  // namespace syscost::bench::stats
