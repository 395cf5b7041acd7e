// SPDX-License-Identifier: MIT
//
// The rates of docs/statistics.md, over fewer comparisons: the same seed draws the same samples on every machine's
// C++ library of one kind, and the bounds leave room for another's.
#include "simulation.h"

#include <gtest/gtest.h>

namespace syscost::bench::simulation {
namespace {

constexpr std::uint64_t kSeed = 20261121;

class EqualCode : public ::testing::TestWithParam<Noise> {};

TEST_P(EqualCode, RaisesATimeRegressionInAtMostFivePercentOfComparisons) {
  const TimesResult result = simulate_times({.noise_kind = GetParam()}, 100, kSeed);
  EXPECT_LE(result.with_false_regression, 5U);
}

TEST_P(EqualCode, RaisesNoMoreWhenMeasuringGoesOnUntilItIsDecided) {
  const TimesResult result = simulate_times(
      {.noise_kind = GetParam(), .noise = 0.1, .tests = 20, .samples = 6, .has_looks = true}, 100, kSeed);
  EXPECT_LE(result.with_false_regression, 5U);
}

INSTANTIATE_TEST_SUITE_P(Scatter, EqualCode, ::testing::Values(Noise::normal, Noise::disturbed, Noise::ticks),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST(SlowedCode, IsFoundInNinetyPercentOfComparisons) {
  for (const std::size_t tests : {1U, 50U}) {
    EXPECT_GE(simulate_times({.tests = tests, .slowdown = 1.1}, 100, kSeed).found, 90U) << tests;
  }
}

TEST(CpuTimes, AreNotWrongOnABusyMachineAndFindWhatWallTimeMisses) {
  EXPECT_LE(simulate_cpu({}, 100, kSeed).false_by_cpu, 5U);
  const CpuResult slowed = simulate_cpu({.slowdown = 1.1}, 100, kSeed);
  EXPECT_GE(slowed.found_by_cpu, 90U);
  EXPECT_LE(slowed.found_by_wall, 50U);
}

TEST(CpuTimes, AreNotJudgedWhereTheClockIsCoarse) {
  for (const double slowdown : {1.0, 1.1}) {
    const CpuResult ticks = simulate_cpu({.cpu_ns = 2e7, .step_ns = 4e6, .slowdown = slowdown}, 20, kSeed);
    EXPECT_EQ(ticks.not_judged, 20U * 50U);
    EXPECT_EQ(ticks.false_by_cpu + ticks.found_by_cpu, 0U);
  }
}

TEST(AddedSyscall, IsAlwaysFound) {
  for (const std::size_t repetitions : {1U, 3U, 10U}) {
    for (const CallChange change :
         {CallChange::added_to_a_syscall, CallChange::added_a_syscall, CallChange::added_errno}) {
      EXPECT_EQ(simulate_counts(change, 200, repetitions, kSeed), 200U) << to_string(change);
    }
  }
}

TEST(AddedSyscall, IsFoundByTenRunsIfSeveralThreadsMakeCalls) {
  EXPECT_EQ(simulate_counts(CallChange::added_with_threads, 200, 10, kSeed), 200U);
}

TEST(AddedSyscall, IsNoRegressionWhereOnlyOneOfSeveralRepetitionsHasIt) {
  EXPECT_EQ(simulate_counts(CallChange::added_in_one_sample, 200, 10, kSeed), 0U);
}

TEST(EqualCounts, NeverRegressWhereOnlyVolatileCallsChange) {
  EXPECT_EQ(simulate_counts(CallChange::replaced_by_volatile, 200, 10, kSeed), 0U);
}

TEST(Unusual, IsNeverSaidOfASteadyLoad) {
  for (const double mean : {1.0, 30.0, 1000.0}) {
    EXPECT_EQ(simulate_unusual(Load::steady, mean, 1, 3600, kSeed).low_per_hour, 0) << mean;
  }
}

TEST(Unusual, IsSaidOfEveryJumpThatIsLarge) {
  EXPECT_GE(simulate_unusual(Load::steady, 30, 5, 3600, kSeed).found, 0.99);
  EXPECT_GE(simulate_unusual(Load::uneven, 1000, 5, 3600, kSeed).found, 0.95);
}

}  // namespace
}  // namespace syscost::bench::simulation
