// SPDX-License-Identifier: MIT
#include "session/loops/loop_run.h"

#include <gtest/gtest.h>

namespace syscost::session {
namespace {

TEST(Spread, TakesTheMedianOfEvenAndOddNumbers) {
  EXPECT_EQ(spread_of({3, 1, 2}).median, 2);
  EXPECT_EQ(spread_of({4, 1, 2, 3}).median, 2.5);
  EXPECT_EQ(spread_of({7}).median, 7);
}

// From the table of the sign test: the median of n values lies between the k-th least and the k-th greatest with at
// least 95 %: n = 6..8: k = 1; 9..11: k = 2; 12..14: k = 3; 20: k = 6.
TEST(Spread, BoundsTheMedianByOrderStatistics) {
  const auto ranks = [](int n) {
    std::vector<double> values;
    for (int i = n; i >= 1; --i) values.push_back(i);
    const Spread spread = spread_of(values);
    EXPECT_TRUE(spread.is_interval) << n;
    return std::pair(spread.low, spread.high);
  };
  EXPECT_EQ(ranks(6), std::pair(1.0, 6.0));
  EXPECT_EQ(ranks(8), std::pair(1.0, 8.0));
  EXPECT_EQ(ranks(9), std::pair(2.0, 8.0));
  EXPECT_EQ(ranks(10), std::pair(2.0, 9.0));
  EXPECT_EQ(ranks(12), std::pair(3.0, 10.0));
  EXPECT_EQ(ranks(20), std::pair(6.0, 15.0));
}

TEST(Spread, ClaimsNoConfidenceFromFiveValues) {
  const Spread spread = spread_of({5, 1, 4, 2, 3});
  EXPECT_FALSE(spread.is_interval);
  EXPECT_EQ(spread.low, 1);
  EXPECT_EQ(spread.high, 5);
}

TEST(Spread, CallsPassesStableThatAgreeToATenth) {
  EXPECT_TRUE(spread_of({100, 104, 109, 100, 101, 102}).is_stable());
  EXPECT_FALSE(spread_of({100, 104, 112, 100, 101, 102}).is_stable());
}

Spread passes_of(double ns) {
  return spread_of({ns, ns, ns, ns, ns, ns});
}

TEST(Verdict, SaysWhatToThinkOfTheTimes) {
  EXPECT_EQ(verdict_of(passes_of(100), 50), "stable");
  EXPECT_EQ(verdict_of(spread_of({100, 110, 131, 100, 100, 100}), 50), "UNSTABLE, 31 % apart");
}

TEST(Verdict, CallsAPassTooShortThatTheClockWouldBlur) {
  EXPECT_EQ(verdict_of(passes_of(4'999), 1), "TOO SHORT to tell, more --syscost_cycles would");
  EXPECT_EQ(verdict_of(passes_of(5'000), 1), "stable");
  EXPECT_EQ(verdict_of(passes_of(5), 1'000), "stable");
}

TEST(Verdict, FindsABodyThatTheCompilerRemoved) {
  EXPECT_EQ(verdict_of(passes_of(0.049), 1'000'000'000), "NO BODY, the compiler removed it (syscost::do_not_optimize)");
  EXPECT_EQ(verdict_of(passes_of(0), 1'000'000), "NO BODY, the compiler removed it (syscost::do_not_optimize)");
}

}  // namespace
}  // namespace syscost::session
