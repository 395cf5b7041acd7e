// SPDX-License-Identifier: MIT
//
// Clocks, error texts and the stamp file, without a GPU.
#include "syscost/gpu/reading.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "csv/problems.h"
#include "gpu_stamps/stamps_reader.h"
#include "syscost/gpu/stamp_file.h"

namespace syscost::gpu {
namespace {

TEST(LeastStep, IsTheLeastChangeOfTheTimer) {
  const unsigned long long readings[] = {100, 100, 132, 132, 132, 196, 228, 228};
  EXPECT_EQ(least_step(readings, 8), 32U);
}

TEST(LeastStep, IsUnknownOfATimerThatStandsStill) {
  const unsigned long long readings[] = {100, 100, 100};
  EXPECT_EQ(least_step(readings, 3), std::nullopt);
  EXPECT_EQ(least_step(readings, 0), std::nullopt);
}

TEST(ClockAlignment, TakesTheShortestRoundTrip) {
  const auto anchor = align_clocks({{1000, 50000, 9000}, {20000, 69000, 21001}, {30000, 79000, 40000}}, 32);
  ASSERT_TRUE(anchor);
  EXPECT_EQ(anchor->gpu_ns, 69000U);
  EXPECT_EQ(anchor->host_ns, 20500U);
  EXPECT_EQ(anchor->error_ns, 501U + 32U);
}

TEST(ClockAlignment, HasTheTrueOffsetWithinItsError) {
  // The GPU's clock is 777777 ahead; its reading lies anywhere in the round trip.
  for (std::uint64_t inside = 0; inside <= 900; inside += 100) {
    const auto anchor = align_clocks({{5000, 5000 + inside + 777777, 5900}}, 0);
    const std::uint64_t offset = anchor->gpu_ns - anchor->host_ns;
    EXPECT_LE(offset > 777777 ? offset - 777777 : 777777 - offset, anchor->error_ns);
  }
}

TEST(ClockAlignment, IsNotThereWithoutAnAnswer) {
  EXPECT_FALSE(align_clocks({}, 32));
  EXPECT_FALSE(align_clocks({{2000, 500, 1000}, {1, 0, 2}}, 32));
}

TEST(CudaFailure, NamesTheOperationTheErrorAndTheFix) {
  EXPECT_EQ(
      cuda_failure("launching GPU kernel sum", "cudaErrorInvalidConfiguration", "invalid configuration argument"),
      "launching GPU kernel sum failed: invalid configuration argument (cudaErrorInvalidConfiguration): grid or block "
      "is 0, or larger than the GPU allows (1024 threads)");
  EXPECT_EQ(cuda_failure("copying", "cudaErrorUnknown", "unknown error"),
            "copying failed: unknown error (cudaErrorUnknown)");
}

/// A launch with every field filled.
StampedLaunch full_launch() {
  StampedLaunch launch;
  launch.run_id = "run";
  launch.test = "Sum.Tree/\"a, b\"";
  launch.gpu_kernel = "sum<int, 4>";
  launch.launch = 7;
  launch.device = "NVIDIA H100";
  launch.level = Level::warp;
  launch.grid = Extent3{4, 2, 1};
  launch.block = Extent3{64, 1, 1};
  launch.sm_count = 132;
  launch.blocks_per_sm = 8;
  launch.timer_step_ns = 32;
  launch.gpu_anchor_ns = 1749147474550000000;
  launch.host_anchor_ns = 123456789;
  launch.anchor_error_ns = 900;
  launch.overflowed = 0;
  launch.plain_ns = 10000;
  launch.stamped_ns = 10100;
  Stamp stamp;
  stamp.block = Extent3{3, 1, 0};
  stamp.thread = Extent3{32, 0, 0};
  stamp.warp = 1;
  stamp.sm = 17;
  stamp.entry_ns = 1749147474550000032;
  stamp.first_exit_ns = 1749147474550000064;
  stamp.exit_ns = 1749147474550000096;
  stamp.entry_cycles = 5;
  stamp.first_exit_cycles = 6;
  stamp.exit_cycles = 7;
  stamp.work = 64;
  stamp.work_max = 2;
  launch.scopes.push_back(stamp);
  stamp.first_exit_ns.reset();
  stamp.mark = 1;
  stamp.times = 3;
  launch.marks.push_back(stamp);
  return launch;
}

TEST(StampFile, IsReadBackAsItWasWritten) {
  const StampedLaunch written = full_launch();
  syscost::bench::csv::Problems problems;
  const auto launches =
      syscost::bench::gpu_stamps::read_stamps_text("file", stamp_header() + stamp_rows(written), problems);
  std::ostringstream said;
  problems.print(said);
  EXPECT_EQ(said.str(), "");
  ASSERT_EQ(launches.size(), 1U);
  // Every field is in the rows, so equal rows are equal launches.
  EXPECT_EQ(stamp_rows(launches[0]), stamp_rows(written));
  EXPECT_EQ(launches[0].scopes[0].entry_ns, 1749147474550000032U);
  EXPECT_EQ(launches[0].test, written.test);
}

TEST(StampFile, LeavesWhatWasNotRecordedEmpty) {
  StampedLaunch launch;
  launch.gpu_kernel = "sum";
  launch.scopes.emplace_back();
  const std::string rows = stamp_rows(launch);
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '0'), 2) << rows;  // the launch's number on both rows, and no other
}

TEST(StampFile, IsDocumentedColumnByColumn) {
  std::ifstream page(SYSCOST_STAMPS_PAGE);
  std::vector<std::string> documented;
  const std::regex row(R"(^\| `(\w+)` \|)");
  for (std::string line; std::getline(page, line);) {
    std::smatch found;
    if (std::regex_search(line, found, row)) documented.push_back(found[1]);
  }
  std::vector<std::string> columns(kStampColumnNames.begin(), kStampColumnNames.end());
  EXPECT_EQ(documented, columns);
}

}  // namespace
}  // namespace syscost::gpu
