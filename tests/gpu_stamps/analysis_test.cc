// SPDX-License-Identifier: MIT
//
// The output of bench for stamps of invented launches, for which the answer is known.
#include "gpu_stamps/analysis.h"

#include <gtest/gtest.h>

#include "csv/problems.h"
#include "gpu_stamps/stamps_reader.h"

namespace syscost::bench::gpu_stamps {
namespace {

std::vector<gpu::StampedLaunch> read(const std::string& name) {
  csv::Problems problems;
  std::vector<gpu::StampedLaunch> launches = read_stamps(std::string(SYSCOST_GPU_DATA) + "/" + name, problems);
  EXPECT_TRUE(problems.empty()) << name;
  return launches;
}

/// Threads 0 to 63 of one block; thread t exits `late(t)` ns after the first.
template <class Late>
gpu::StampedLaunch threads(Late late) {
  gpu::StampedLaunch launch;
  launch.level = gpu::Level::thread;
  launch.timer_step_ns = 32;
  for (std::uint64_t thread = 0; thread < 64; ++thread) {
    gpu::Stamp stamp;
    stamp.thread = gpu::Extent3{thread, 0, 0};
    stamp.exit_ns = 1000000 + late(thread);
    launch.scopes.push_back(stamp);
  }
  return launch;
}

TEST(Stragglers, AreTheWarpsThatRanLong) {
  const auto launches = read("warps.csv");
  const Analysis analysis = analyze(launches.front());
  ASSERT_TRUE(analysis.stragglers);
  ASSERT_EQ(analysis.stragglers->units.size(), 1U);
  EXPECT_EQ(analysis.stragglers->units[0].unit->block_number, 5U);
  EXPECT_EQ(analysis.stragglers->units[0].unit->warp, 2U);
}

TEST(Stragglers, AreNoneWhereTheTimerCannotTellThemApart) {
  gpu::StampedLaunch launch;
  launch.level = gpu::Level::block;
  for (std::uint64_t i = 0; i < 20; ++i) {
    gpu::Stamp stamp;
    stamp.block = gpu::Extent3{i, 0, 0};
    stamp.entry_ns = 1024;
    stamp.exit_ns = i == 7 ? 4096 : 3072;
    launch.scopes.push_back(stamp);
  }
  EXPECT_EQ(analyze(launch).stragglers->units.size(), 1U);
  launch.timer_step_ns = 1024;
  EXPECT_TRUE(analyze(launch).stragglers->units.empty());
}

TEST(Stragglers, AreNotSoughtAmongTwo) {
  EXPECT_FALSE(analyze(threads([](std::uint64_t thread) { return thread / 32 * 320; })).stragglers);
}

TEST(SimtEfficiency, IsWorkOverThirtyTwoTimesTheMostOfEachWarp) {
  gpu::StampedLaunch launch = threads([](std::uint64_t) { return 0; });
  for (gpu::Stamp& stamp : launch.scopes) stamp.work = stamp.thread->x == 0 ? 64 : 1;
  const Analysis analysis = analyze(launch);
  ASSERT_TRUE(analysis.simt);
  EXPECT_EQ(analysis.simt->work, 64U + 31 + 32);
  EXPECT_EQ(analysis.simt->room, 32U * 64 + 32U * 1);
}

TEST(SimtEfficiency, IsUnknownWhereNothingWasCounted) {
  EXPECT_FALSE(analyze(threads([](std::uint64_t) { return 0; })).simt);
}

TEST(Pattern, NamesTheLeastModulusThatExplains) {
  const gpu::StampedLaunch launch = threads([](std::uint64_t thread) { return thread % 8 == 5 ? 700 : 0; });
  const Analysis analysis = analyze(launch);
  ASSERT_TRUE(analysis.pattern && analysis.pattern->strongest);
  EXPECT_EQ(analysis.pattern->strongest->modulus, 8U);
  EXPECT_EQ(analysis.pattern->strongest->worst_class, 5U);
  EXPECT_DOUBLE_EQ(analysis.pattern->strongest->eta_squared, 1);
  EXPECT_DOUBLE_EQ(analysis.pattern->strongest->excess_ns, 700);
}

TEST(Pattern, IsNoneInExitsThatFollowNoModulus) {
  const gpu::StampedLaunch launch = threads([](std::uint64_t thread) { return thread * thread * 7919 % 1009; });
  const Analysis analysis = analyze(launch);
  ASSERT_TRUE(analysis.pattern);
  EXPECT_FALSE(analysis.pattern->strongest);
}

TEST(Pattern, IsNotSoughtAmongThreadsThatAllExitAtOnce) {
  EXPECT_FALSE(analyze(threads([](std::uint64_t) { return 0; })).pattern);
}

TEST(SeedPage, DivergentWarpIsOneWarpWithOneLateThread) {
  const auto launches = read("kernelretsnoop.csv");
  ASSERT_EQ(launches.size(), 3U);
  const Analysis analysis = analyze(launches[0]);
  ASSERT_TRUE(analysis.exit_spread);
  EXPECT_EQ(analysis.exit_spread->ns.max, 754U);
  EXPECT_EQ(analysis.least_difference_ns, 4U);  // below any timer's step: the page's claim cannot be right
  EXPECT_FALSE(analysis.exit_spread->share_resolved);
}

TEST(SeedPage, EveryEighthThreadIsInTruthEverySixteenth) {
  const auto launches = read("kernelretsnoop.csv");
  const Analysis analysis = analyze(launches[1]);
  ASSERT_TRUE(analysis.pattern && analysis.pattern->strongest);
  EXPECT_EQ(analysis.pattern->strongest->modulus, 16U);
  EXPECT_EQ(analysis.pattern->strongest->worst_class, 8U);
}

TEST(SeedPage, WarpsHaveNoEntriesSoThatWavesAreUnknown) {
  const auto launches = read("kernelretsnoop.csv");
  const Analysis analysis = analyze(launches[2]);
  EXPECT_EQ(*analysis.exit_range_ns, 4000U);
  EXPECT_FALSE(analysis.waves);
  EXPECT_FALSE(analysis.sms);
  EXPECT_FALSE(analysis.span_ns);
}

TEST(Waves, AreThoseThatRanOneAfterTheOtherOnOneSm) {
  const auto launches = read("even.csv");
  const Analysis analysis = analyze(launches.front());
  ASSERT_TRUE(analysis.waves);
  EXPECT_EQ(analysis.waves->expected, 3U);
  EXPECT_EQ(analysis.waves->seen, 3U);
}

TEST(TailEffect, IsTheShareOfTheSmsTimeThatIsIdle) {
  const auto launches = read("blocks.csv");  // SMs busy for 9, 6 and 9 us of 9, each stamp within a step of it
  const Analysis analysis = analyze(launches.front());
  ASSERT_TRUE(analysis.sms && analysis.sms->tail_effect);
  EXPECT_NEAR(*analysis.sms->tail_effect, 1 - 24.0 / 27.0, 0.01);
}

TEST(MissingStamps, LeaveNoFigureOfTheLaunchAsAWhole) {
  const auto launches = read("overflowed.csv");
  const Analysis analysis = analyze(launches.front());
  EXPECT_FALSE(analysis.sms);
  EXPECT_FALSE(analysis.span_ns);
  EXPECT_FALSE(analysis.ramp_ns);
  EXPECT_FALSE(analysis.waves && analysis.waves->seen);
  EXPECT_TRUE(analysis.stragglers);
}

TEST(Resolution, IsTwoStepsOfTheTimer) {
  const auto launches = read("coarse.csv");
  const Analysis analysis = analyze(launches.front());
  EXPECT_EQ(analysis.resolution_ns, 2048U);
  EXPECT_TRUE(analysis.is_unresolved(2048));
  EXPECT_FALSE(analysis.is_unresolved(2049));
}

}  // namespace
}  // namespace syscost::bench::gpu_stamps
