// SPDX-License-Identifier: MIT
#include "stats/significance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

namespace syscost::bench::stats {
namespace {

using Values = std::vector<double>;

double u_of(const Values& old_values, const Values& new_values) {
  double u = 0;
  for (double one : old_values) {
    for (double other : new_values) u += other > one ? 1.0 : other == one ? 0.5 : 0.0;
  }
  return u;
}

/// Tries all ways to deal out the pooled values, which is the definition of the exact test.
double p_by_enumeration(const Values& old_values, const Values& new_values) {
  Values pooled = old_values;
  pooled.insert(pooled.end(), new_values.begin(), new_values.end());
  const double found = u_of(old_values, new_values);
  double all = 0;
  double lower = 0;
  double upper = 0;
  for (unsigned mask = 0; mask < 1U << pooled.size(); ++mask) {
    if (static_cast<std::size_t>(std::popcount(mask)) != new_values.size()) continue;
    Values dealt_old;
    Values dealt_new;
    for (std::size_t i = 0; i < pooled.size(); ++i)
      ((mask >> i & 1U) != 0 ? dealt_new : dealt_old).push_back(pooled[i]);
    const double u = u_of(dealt_old, dealt_new);
    all += 1;
    lower += u <= found ? 1 : 0;
    upper += u >= found ? 1 : 0;
  }
  return std::min(1.0, 2 * std::min(lower, upper) / all);
}

// R: wilcox.test(y, x), the example of its documentation, two-sided.
TEST(RankTest, AgreesWithRsExample) {
  const Values x = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
  const Values y = {1.15, 0.88, 0.90, 0.74, 1.21};
  EXPECT_EQ(rank_test(y, x).u, 35);
  EXPECT_NEAR(rank_test(y, x).p, 0.2544, 0.00005);
  EXPECT_EQ(rank_test(x, y).u, 15);
  EXPECT_DOUBLE_EQ(rank_test(x, y).p, rank_test(y, x).p);
}

TEST(RankTest, IsTheEnumerationOfAllDeals) {
  const std::vector<std::pair<Values, Values>> cases = {{{1, 2, 3, 4}, {5, 6, 7, 8}},
                                                        {{1, 3, 5, 7}, {2, 4, 6, 8, 9}},
                                                        {{1, 1, 2, 2}, {2, 2, 3, 3}},
                                                        {{5, 5, 5}, {5, 5, 6}},
                                                        {{1, 1, 1, 1, 9}, {1, 1}},
                                                        {{2, 2, 2, 7, 7}, {1, 2, 7, 7, 7, 8}},
                                                        {{10, 10, 10, 10, 11}, {11, 11, 11, 12}}};
  for (const auto& [old_values, new_values] : cases) {
    EXPECT_EQ(rank_test(old_values, new_values).u, u_of(old_values, new_values));
    EXPECT_NEAR(rank_test(old_values, new_values).p, p_by_enumeration(old_values, new_values), 1e-12);
  }
}

TEST(RankTest, GivesEqualValuesAPOfOne) {
  EXPECT_EQ(rank_test(Values(5, 7.0), Values(5, 7.0)).p, 1);
  EXPECT_EQ(rank_test(Values(500, 7.0), Values(500, 7.0)).p, 1);
}

TEST(RankTest, ApproximatesLargeSamplesCloseToTheExactTest) {
  Values old_values(50);
  std::iota(old_values.begin(), old_values.end(), 0.0);
  Values new_values = old_values;
  for (double& value : new_values) value += 10.25;
  const RankTest exact = rank_test(old_values, new_values);
  ASSERT_TRUE(exact.is_exact);
  // One more pair than may be exact; ties that hardly matter.
  new_values.push_back(34.75);
  const RankTest approximate = rank_test(old_values, new_values);
  ASSERT_FALSE(approximate.is_exact);
  EXPECT_NEAR(approximate.p / exact.p, 1, 0.15);
}

TEST(SmallestP, IsThatOfSamplesThatDoNotOverlap) {
  EXPECT_NEAR(smallest_p(5, 5), 2.0 / 252, 1e-12);
  EXPECT_NEAR(smallest_p(5, 5), rank_test(Values{1, 2, 3, 4, 5}, Values{6, 7, 8, 9, 10}).p, 1e-12);
  EXPECT_EQ(smallest_p(1, 1), 1);
  EXPECT_EQ(smallest_p(0, 9), 1);
  EXPECT_GT(smallest_p(2000, 2000), 0);
}

TEST(WidestTail, IsTheTableOfCriticalValues) {
  // Critical values of U for a two-sided 5 %: 5 and 5: 2; 10 and 10: 23; 4 and 4: 0; 3 and 3: none.
  EXPECT_EQ(widest_tail(5, 5, 0.025)->count, 3U);
  EXPECT_EQ(widest_tail(10, 10, 0.025)->count, 24U);
  EXPECT_EQ(widest_tail(4, 4, 0.025)->count, 1U);
  EXPECT_NEAR(widest_tail(4, 4, 0.025)->probability, 1.0 / 70, 1e-12);
  EXPECT_FALSE(widest_tail(3, 3, 0.025).has_value());
  EXPECT_FALSE(widest_tail(1, 1, 0.025).has_value());
}

TEST(WidestTail, GoesOnSmoothlyWhereItIsApproximated) {
  const auto exact = widest_tail(50, 50, 0.025);
  const auto approximate = widest_tail(50, 51, 0.025);
  EXPECT_LE(approximate->probability, 0.025);
  EXPECT_NEAR(static_cast<double>(approximate->count), static_cast<double>(exact->count), 25);
}

}  // namespace
}  // namespace syscost::bench::stats
