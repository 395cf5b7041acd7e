// SPDX-License-Identifier: MIT
//
// The figures that the measured process and bench share, on launches small enough to reckon by hand.
#include "syscost/gpu/stamp_figures.h"

#include <gtest/gtest.h>

namespace syscost::gpu {
namespace {

constexpr std::uint64_t kStart = 1749147474550000000;

Stamp warp(std::uint64_t block, std::uint64_t number, std::uint64_t sm, std::uint64_t entry, std::uint64_t exit) {
  Stamp stamp;
  stamp.block = Extent3{block, 0, 0};
  stamp.warp = number;
  stamp.sm = sm;
  stamp.entry_ns = kStart + entry;
  stamp.exit_ns = kStart + exit;
  return stamp;
}

/// Two SMs: on SM 0 blocks 0 [0, 100) and 2 [150, 250), on SM 1 block 1 [20, 120).
StampedLaunch two_sms() {
  StampedLaunch launch;
  launch.level = Level::warp;
  launch.grid = Extent3{3, 1, 1};
  launch.block = Extent3{32, 1, 1};
  launch.sm_count = 2;
  launch.blocks_per_sm = 1;
  launch.scopes = {warp(0, 0, 0, 0, 100), warp(1, 0, 1, 20, 120), warp(2, 0, 0, 150, 250)};
  return launch;
}

TEST(Percentile, IsAlwaysAValueThatWasMeasured) {
  EXPECT_EQ(percentile({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.50), 5U);
  EXPECT_EQ(percentile({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.95), 10U);
  EXPECT_EQ(percentile({7}, 0.50), 7U);
  EXPECT_EQ(percentile({}, 0.50), std::nullopt);
}

TEST(Places, NumberAsCudaDoes) {
  StampedLaunch launch;
  launch.grid = Extent3{2, 3, 4};
  launch.block = Extent3{8, 4, 2};
  Stamp stamp;
  stamp.block = Extent3{1, 2, 3};
  stamp.thread = Extent3{7, 3, 1};
  EXPECT_EQ(block_number(launch, stamp), 1U + 2 * (2 + 3 * 3));
  EXPECT_EQ(thread_number(launch, stamp), 63U);
  EXPECT_EQ(warp_place(launch, stamp)->second, 1U);
}

TEST(Places, AreUnknownWhereTheSizeIsAndMatters) {
  StampedLaunch launch;
  Stamp stamp;
  stamp.thread = Extent3{3, 1, 0};
  EXPECT_EQ(thread_number(launch, stamp), std::nullopt);
  stamp.thread = Extent3{33, 0, 0};
  EXPECT_EQ(thread_number(launch, stamp), 33U);
}

TEST(Span, RunsFromTheFirstEntryToTheLastExit) {
  EXPECT_EQ(span_ns(two_sms()), 250U);
}

TEST(Span, IsUnknownWhereAStampHasNoEntry) {
  StampedLaunch launch = two_sms();
  launch.scopes[1].entry_ns.reset();
  EXPECT_EQ(span_ns(launch), std::nullopt);
  EXPECT_EQ(idle_per_sm_ns(launch), std::nullopt);
}

TEST(Idle, IsWhatTheSmsDidNotRunOnAverage) {
  EXPECT_EQ(idle_per_sm_ns(two_sms()), 250U - (200U + 100U) / 2);
}

TEST(Idle, CountsSmsWithoutAnyBlock) {
  StampedLaunch launch = two_sms();
  launch.sm_count = 3;
  EXPECT_EQ(idle_per_sm_ns(launch), 250U - 300U / 3);
}

TEST(Idle, IsUnknownWhereMoreSmsRanThanTheDeviceHas) {
  StampedLaunch launch = two_sms();
  launch.sm_count = 1;
  EXPECT_EQ(idle_per_sm_ns(launch), std::nullopt);
}

TEST(Busy, CountsTimeInWhichBlocksOverlapOnce) {
  const std::vector<BlockRun> blocks = {{0, {0, 100}, {}}, {1, {50, 70}, {}}, {2, {90, 130}, {}}, {3, {200, 210}, {}}};
  EXPECT_EQ(busy_ns(blocks), 140U);
}

TEST(LaunchRamp, LooksAtTheFirstWaveOnly) {
  EXPECT_EQ(launch_ramp_ns(two_sms()), 20U);
}

TEST(ExitSpread, IsOfAWarpsFirstAndLastExit) {
  StampedLaunch launch = two_sms();
  for (Stamp& stamp : launch.scopes) stamp.first_exit_ns = stamp.exit_ns;
  launch.scopes[2].first_exit_ns = kStart + 200;
  EXPECT_EQ(exit_spreads_ns(launch), (std::vector<std::uint64_t>{0, 0, 50}));
}

TEST(ExitSpread, IsOfTheThreadsThatMakeAWarp) {
  StampedLaunch launch;
  launch.level = Level::thread;
  launch.block = Extent3{16, 4, 1};
  for (std::uint64_t thread = 0; thread < 64; ++thread) {
    Stamp stamp;
    stamp.thread = Extent3{thread % 16, thread / 16, 0};
    stamp.exit_ns = kStart + (thread == 40 ? 500 : 0);
    launch.scopes.push_back(stamp);
  }
  EXPECT_EQ(exit_spreads_ns(launch), (std::vector<std::uint64_t>{0, 500}));
}

TEST(ExitSpread, IsNotThereWithOneExit) {
  EXPECT_TRUE(exit_spreads_ns(two_sms()).empty());
}

}  // namespace
}  // namespace syscost::gpu
