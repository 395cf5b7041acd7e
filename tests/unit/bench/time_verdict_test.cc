// SPDX-License-Identifier: MIT
#include "judge/time_verdict.h"

#include <gtest/gtest.h>

namespace syscost::bench::judge {
namespace {

using Values = std::vector<double>;

/// Ten samples around 1000 within +-1 %, times `factor`.
Values around(double factor) {
  Values values = {1000, 1004, 996, 1009, 991, 1002, 998, 1006, 994, 1001};
  for (double& value : values) value *= factor;
  return values;
}

Values first(std::size_t n, Values values) {
  values.resize(n);
  return values;
}

TimeVerdict judge_alone(Values old_ns, Values new_ns, const TimeLimits& limits = {}) {
  const std::vector<TimeSamples> family = {{std::move(old_ns), std::move(new_ns)}};
  return judge_times(family, limits).front();
}

TEST(TimeVerdict, IsRegressedBeyondTheThresholdAndImprovedTheOtherWay) {
  const TimeVerdict slower = judge_alone(around(1), around(1.1));
  EXPECT_EQ(slower.verdict, Verdict::regressed);
  EXPECT_NEAR(slower.ratio->estimate, 1.1, 0.003);
  EXPECT_GT(slower.ratio->interval->low, 1.03);
  EXPECT_LT(*slower.adjusted_p, 0.001);
  EXPECT_EQ(judge_alone(around(1.1), around(1)).verdict, Verdict::improved);
}

TEST(TimeVerdict, IsNotRegressedByADifferenceThatIsCertainAndSmall) {
  const TimeVerdict one = judge_alone(around(1), around(1.02));
  EXPECT_LT(*one.adjusted_p, 0.05);
  EXPECT_EQ(one.verdict, Verdict::same);
  EXPECT_EQ(judge_alone(around(1), around(1.02), {.threshold = 0.005}).verdict, Verdict::regressed);
}

TEST(TimeVerdict, IsNotRegressedByADifferenceThatIsLargeAndUncertain) {
  Values wild = around(1.1);
  for (std::size_t i = 0; i < 5; ++i) wild[i] = 900 + static_cast<double>(i);
  EXPECT_EQ(judge_alone(around(1), wild).verdict, Verdict::inconclusive);
}

TEST(TimeVerdict, IsSameOnlyWhenTheWholeIntervalIsInside) {
  EXPECT_EQ(judge_alone(around(1), around(1)).verdict, Verdict::same);
  EXPECT_EQ(judge_alone(around(1), around(1), {.threshold = 0.001}).verdict, Verdict::inconclusive);
  EXPECT_EQ(judge_alone(around(1), around(1.03)).verdict, Verdict::inconclusive) << "the interval holds the threshold";
}

TEST(TimeVerdict, IsInsufficientWhereNoSamplesOfThisSizeCouldShowAnything) {
  const TimeVerdict three = judge_alone(first(3, around(1)), first(3, around(2)));
  EXPECT_EQ(three.verdict, Verdict::insufficient);
  EXPECT_EQ(three.needed_n, 4U);
  EXPECT_NEAR(*three.p, 0.1, 1e-12);
  // Five against five are enough for one test and not for fifty.
  std::vector<TimeSamples> family(50, {first(5, around(1)), first(5, around(1))});
  family[7].new_ns = first(5, around(2));
  EXPECT_EQ(judge_alone(family[7].old_ns, family[7].new_ns).verdict, Verdict::regressed);
  const auto verdicts = judge_times(family, {});
  EXPECT_EQ(verdicts[7].verdict, Verdict::insufficient);
  EXPECT_EQ(verdicts[7].needed_n, 7U);
  EXPECT_NEAR(*verdicts[7].adjusted_p, 50 * 2.0 / 252, 1e-9);
  EXPECT_EQ(verdicts[8].verdict, Verdict::same) << "five samples within 1 % are enough for that";
}

TEST(TimeVerdict, DoesNotJudgeASingleRun) {
  const TimeVerdict one = judge_alone({1000}, {5000});
  EXPECT_EQ(one.verdict, Verdict::insufficient);
  EXPECT_EQ(one.needed_n, 4U);
  EXPECT_FALSE(one.is_judged());
  EXPECT_NEAR(one.ratio->estimate, 5, 1e-12);
  // It does not make the family larger either.
  const std::vector<TimeSamples> family = {{{1000}, {5000}}, {first(4, around(1)), first(4, around(2))}};
  EXPECT_EQ(judge_times(family, {})[1].verdict, Verdict::regressed);
}

TEST(TimeVerdict, IsIncomparableWithoutTimes) {
  EXPECT_EQ(judge_alone({}, around(1)).reason, "OLD has no time");
  EXPECT_EQ(judge_alone(around(1), {}).verdict, Verdict::incomparable);
  const TimeVerdict zero = judge_alone(Values(5, 0.0), around(1));
  EXPECT_EQ(zero.verdict, Verdict::incomparable);
  EXPECT_EQ(zero.reason, "a repetition took 0 ns by its clock");
  EXPECT_EQ(zero.old_median->median, 0);
}

TEST(TimeVerdict, NeedsMoreWhenItsChanceIsShared) {
  const Values old_ns = first(4, around(1));
  const Values new_ns = first(4, around(2));
  EXPECT_EQ(judge_alone(old_ns, new_ns).verdict, Verdict::regressed);
  const TimeVerdict shared = judge_alone(old_ns, new_ns, {.shares = 2});
  EXPECT_EQ(shared.verdict, Verdict::insufficient);
  EXPECT_EQ(shared.needed_n, 5U);
  EXPECT_NEAR(*shared.adjusted_p, 2 * *shared.p, 1e-12);
}

}  // namespace
}  // namespace syscost::bench::judge
