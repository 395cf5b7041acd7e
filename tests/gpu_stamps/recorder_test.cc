// SPDX-License-Identifier: MIT
//
// The records of GPU kernels, on grids that run on the host: places, levels, early returns, marks, work, overflow.
#include "syscost/gpu/recorder.h"

#include <gtest/gtest.h>

#include "host_grid.h"
#include "syscost/gpu/stamp_figures.h"

namespace syscost::gpu::testing {
namespace {

constexpr std::uint64_t kPlenty = 1 << 20;
constexpr std::uint64_t kStart = 1749147474550000000;

std::uint64_t at_start(Thread /*thread*/) {
  return kStart;
}

TEST(Layout, HasAUnitForEachThreadWarpOrBlock) {
  const Dim3 grid{3, 2, 2};
  const Dim3 block{20, 5, 1};  // 100 threads: four warps, the last of four threads
  EXPECT_EQ(Layout::of(Level::thread, grid, block, 0, kPlenty).units(), 1200U);
  EXPECT_EQ(Layout::of(Level::warp, grid, block, 0, kPlenty).units(), 48U);
  EXPECT_EQ(Layout::of(Level::block, grid, block, 0, kPlenty).units(), 12U);
}

TEST(Layout, DoesNotOverflowOnTheLargestGridThatThereIs) {
  const Layout layout = Layout::of(Level::thread, {0x7FFFFFFF, 65535, 1}, {1024, 1, 1}, 0, 1 << 20);
  EXPECT_EQ(layout.units(), 0x7FFFFFFFULL * 65535 * 1024);
  EXPECT_EQ(layout.cells, (1U << 20) / 64);
}

TEST(Layout, KeepsToTheBytesItMayUse) {
  const Layout layout = Layout::of(Level::warp, {100, 1, 1}, {256, 1, 1}, 2, 10000);
  EXPECT_EQ(layout.cells, 10000U / (64 + 2 * 24));
  EXPECT_LE(layout.bytes(), 10000U);
}

TEST(Recorder, StampsEveryThreadInItsPlace) {
  const Dim3 grid{2, 2, 1};
  const Dim3 block{8, 4, 2};
  HostBuffer buffer(Layout::of(Level::thread, grid, block, 0, kPlenty));
  launch(buffer.recorder(), grid, block, at_start,
         [](Thread thread) { return kStart + 1000 * thread.block + thread.number; });
  const StampedLaunch read = buffer.read();
  ASSERT_EQ(read.scopes.size(), 4U * 64U);
  for (const Stamp& stamp : read.scopes) {
    EXPECT_EQ(*stamp.exit_ns - kStart, 1000 * *block_number(read, stamp) + *thread_number(read, stamp));
    EXPECT_EQ(stamp.entry_ns, kStart);
    EXPECT_EQ(stamp.sm, *block_number(read, stamp) % 4);
    EXPECT_EQ(stamp.first_exit_ns, std::nullopt);
  }
  EXPECT_EQ(read.overflowed, 0U);
}

TEST(Recorder, StampsAWarpByItsLeader) {
  const Dim3 block{96, 1, 1};
  HostBuffer buffer(Layout::of(Level::warp, {2, 1, 1}, block, 0, kPlenty));
  launch(buffer.recorder(), {2, 1, 1}, block, at_start,
         [](Thread thread) { return kStart + 64 * (thread.warp() + 1); });
  const StampedLaunch read = buffer.read();
  ASSERT_EQ(read.scopes.size(), 6U);
  for (const Stamp& stamp : read.scopes) {
    EXPECT_EQ(*stamp.exit_ns - kStart, 64 * (*stamp.warp + 1));
    EXPECT_EQ(stamp.first_exit_ns, stamp.exit_ns);
    EXPECT_EQ(stamp.thread->x, 32 * *stamp.warp);
  }
}

TEST(Recorder, KeepsTheFirstAndTheLastExitIfLanesOfAWarpReturnEarly) {
  HostBuffer buffer(Layout::of(Level::warp, {1, 1, 1}, {32, 1, 1}, 0, kPlenty));
  launch(buffer.recorder(), {1, 1, 1}, {32, 1, 1}, at_start, [](Thread thread) {
    return kStart + (thread.lane() == 9 ? 1200 : thread.lane() > 20 ? 300 : 500);
  });
  const StampedLaunch read = buffer.read();
  ASSERT_EQ(read.scopes.size(), 1U);
  EXPECT_EQ(*read.scopes[0].first_exit_ns - kStart, 300U);
  EXPECT_EQ(*read.scopes[0].exit_ns - kStart, 1200U);
  EXPECT_EQ(*read.scopes[0].exit_cycles - *read.scopes[0].first_exit_cycles, 1800U);
}

TEST(Recorder, StampsABlockFromItsFirstEntryToItsLastExit) {
  const Dim3 block{64, 2, 1};
  HostBuffer buffer(Layout::of(Level::block, {3, 1, 1}, block, 0, kPlenty));
  launch(
      buffer.recorder(), {3, 1, 1}, block, [](Thread thread) { return kStart + 500 - 100 * thread.warp(); },
      [](Thread thread) { return kStart + 1000 + 100 * (thread.warp() % 3); });
  const StampedLaunch read = buffer.read();
  ASSERT_EQ(read.scopes.size(), 3U);
  EXPECT_EQ(*read.scopes[2].entry_ns - kStart, 200U);
  EXPECT_EQ(*read.scopes[2].first_exit_ns - kStart, 1000U);
  EXPECT_EQ(*read.scopes[2].exit_ns - kStart, 1200U);
  EXPECT_EQ(read.scopes[2].warp, std::nullopt);
}

TEST(Recorder, SumsTheWorkOfAWarpAndKeepsTheMostOfAThread) {
  HostBuffer buffer(Layout::of(Level::warp, {1, 1, 1}, {32, 1, 1}, 0, kPlenty));
  launch(buffer.recorder(), {1, 1, 1}, {32, 1, 1}, at_start, at_start, [](Thread thread, HostScope& scope) {
    for (std::uint64_t i = 0; i < thread.lane(); ++i) scope.count();
    scope.count(10);
  });
  const StampedLaunch read = buffer.read();
  EXPECT_EQ(read.scopes[0].work, 31U * 32 / 2 + 320);
  EXPECT_EQ(read.scopes[0].work_max, 41U);
}

TEST(Recorder, SaysNothingAboutWorkThatWasNotCounted) {
  HostBuffer buffer(Layout::of(Level::warp, {1, 1, 1}, {32, 1, 1}, 0, kPlenty));
  launch(buffer.recorder(), {1, 1, 1}, {32, 1, 1}, at_start, at_start);
  EXPECT_EQ(buffer.read().scopes[0].work, std::nullopt);
}

TEST(Recorder, KeepsMarksApartAndCountsHowOftenTheyWereReached) {
  HostBuffer buffer(Layout::of(Level::warp, {1, 1, 1}, {64, 1, 1}, 3, kPlenty));
  launch(buffer.recorder(), {1, 1, 1}, {64, 1, 1}, at_start, at_start, [](Thread thread, HostScope& scope) {
    if (thread.warp() != 1) return;
    for (std::uint64_t i = 1; i <= 4; ++i) {
      hardware.now_ns = kStart + 100 * i;
      scope.mark(2);
    }
  });
  const StampedLaunch read = buffer.read();
  ASSERT_EQ(read.marks.size(), 1U);
  EXPECT_EQ(read.marks[0].warp, 1U);
  EXPECT_EQ(read.marks[0].mark, 2U);
  EXPECT_EQ(read.marks[0].times, 4U);
  EXPECT_EQ(*read.marks[0].entry_ns - kStart, 100U);
  EXPECT_EQ(*read.marks[0].exit_ns - kStart, 400U);
}

TEST(Recorder, CountsUnitsWithoutACellAndWritesNothingElsewhere) {
  Layout layout = Layout::of(Level::warp, {10, 1, 1}, {64, 1, 1}, 0, 7 * sizeof(Cell));
  HostBuffer buffer(layout);
  buffer.cells.resize(20);  // the bytes after the cells must stay as they are
  launch(buffer.recorder(), {10, 1, 1}, {64, 1, 1}, at_start, at_start);
  EXPECT_EQ(buffer.losses.overflowed, 13U);
  const StampedLaunch read = buffer.read();
  EXPECT_EQ(read.scopes.size(), 7U);
  EXPECT_EQ(read.overflowed, 13U);
  for (std::size_t i = 7; i < 20; ++i) EXPECT_EQ(buffer.cells[i].sm_plus_one, 0U);
}

TEST(Recorder, CountsEachBlockWithoutACellOnce) {
  HostBuffer buffer(Layout::of(Level::block, {4, 1, 1}, {96, 1, 1}, 0, sizeof(Cell)));
  launch(buffer.recorder(), {4, 1, 1}, {96, 1, 1}, at_start, at_start);
  EXPECT_EQ(buffer.losses.overflowed, 3U);
}

TEST(Recorder, CountsMarksThatWereNotAskedFor) {
  HostBuffer buffer(Layout::of(Level::warp, {1, 1, 1}, {32, 1, 1}, 1, kPlenty));
  launch(buffer.recorder(), {1, 1, 1}, {32, 1, 1}, at_start, at_start, [](Thread, HostScope& scope) { scope.mark(1); });
  EXPECT_EQ(buffer.losses.overflowed, 1U);
  EXPECT_TRUE(buffer.read().marks.empty());
}

TEST(Recorder, RefusesALaunchOfOtherSizes) {
  HostBuffer buffer(Layout::of(Level::warp, {4, 1, 1}, {64, 1, 1}, 0, kPlenty));
  launch(buffer.recorder(), {4, 1, 1}, {32, 2, 1}, at_start, at_start);
  EXPECT_EQ(buffer.losses.mismatched, 8U);
  EXPECT_TRUE(buffer.read().scopes.empty());
  EXPECT_EQ(mismatch_text("sum", buffer.layout, buffer.losses),
            "GPU kernel sum was launched with other sizes than its stamps were made for (grid 4x1x1, block 64x1x1): "
            "nothing was stamped; make Stamps with the launch's");
}

TEST(Recorder, MadeByDefaultRecordsNothing) {
  launch(Recorder{}, {2, 1, 1}, {32, 1, 1}, at_start, at_start, [](Thread, HostScope& scope) {
    scope.mark(0);
    scope.count();
  });
}

TEST(Recorder, LeavesUnitsThatNeverReachedTheScopeOut) {
  HostBuffer buffer(Layout::of(Level::warp, {8, 1, 1}, {32, 1, 1}, 0, kPlenty));
  launch(buffer.recorder(), {8, 1, 1}, {32, 1, 1}, at_start, at_start);
  buffer.cells[3] = Cell{};
  const StampedLaunch read = buffer.read();
  ASSERT_EQ(read.scopes.size(), 7U);
  EXPECT_EQ(read.scopes[3].block->x, 4U);
}

}  // namespace
}  // namespace syscost::gpu::testing
