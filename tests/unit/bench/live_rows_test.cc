// SPDX-License-Identifier: MIT
//
// The output of `bench run --live` for a file that grows.
#include "commands/watch/watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "../csv/temporary_folder.h"
#include "cli/options.h"
#include "csv/problems.h"
#include "csv_text.h"
#include "render/terminal.h"

namespace syscost::bench::commands {
namespace {

std::string interval(int number, int writes, const std::string& run = "r2") {
  const testing::Cells key = {
      {"kind", "interval"}, {"test", "server"}, {"repetition", std::to_string(number)}, {"run_id", run}};
  testing::Cells totals = {{"wall_ns", "1000000000"}, {"outcome", ""}};
  testing::Cells calls = {{"syscall", "write"}, {"calls", std::to_string(writes)}, {"entries", std::to_string(writes)}};
  totals.insert(key.begin(), key.end());
  calls.insert(key.begin(), key.end());
  return testing::test_row(totals) + testing::syscall_row(calls);
}

class LiveRowsTest : public ::testing::Test {
 protected:
  LiveRowsTest() { options_.run_ids = {"r2"}; }
  void append(const std::string& text) const { std::ofstream(path_, std::ios::app) << text; }

  syscost::testing::TemporaryFolder folder_;
  std::string path_ = folder_.file("run.csv");
  cli::Options options_;
};

// An id is a cell: it may need quotes, and another one may end with it.
TEST_F(LiveRowsTest, AreThoseOfTheIdAndOfNoOther) {
  options_.run_ids = {"nightly, 7"};
  append(testing::header());
  LiveRows live(options_, path_);
  append(interval(0, 7, "\"nightly, 7\"") + interval(0, 5, "\"weekly, nightly, 7\"") + interval(0, 5, "7"));
  ASSERT_TRUE(live.read());
  EXPECT_EQ(live.intervals(), 1U);
  EXPECT_EQ(live.newest().intervals[0].by_syscall.at("write").calls, 7);
}

TEST_F(LiveRowsTest, ShowWhatTheWholeFileShowsAndKeepOnlyAMinute) {
  append(testing::header() + interval(0, 77, "r1"));
  LiveRows live(options_, path_);
  EXPECT_FALSE(live.read());
  std::size_t most = 0;
  for (int i = 0; i < 400; ++i) {
    append(interval(i, i % 50 == 49 ? 9000 : 100 + i % 7));
    if (i % 3 == 0) append(interval(i, 5, "r1"));
    ASSERT_TRUE(live.read());
    EXPECT_EQ(live.new_intervals(), 1U);
    most = std::max(most, live.bytes());
    if (i % 29 != 28 && i % 50 != 49) continue;
    csv::Problems ignored;
    const WatchedRun whole = load_watched(options_, path_, ignored);
    const render::Screen screen{80, 24};
    const render::Paint paint(false);
    EXPECT_EQ(newest_interval_text(live.newest(), screen, paint), newest_interval_text(whole, screen, paint));
    EXPECT_EQ(interval_line(live.newest(), live.newest().intervals.size() - 1),
              interval_line(whole, whole.intervals.size() - 1));
  }
  EXPECT_EQ(live.intervals(), 400U);
  EXPECT_LT(most, 70 * interval(0, 100).size());
}

TEST_F(LiveRowsTest, NeedNoMemoryForAFileThatJumpsToAnySize) {
  append(testing::header());
  LiveRows live(options_, path_);
  std::filesystem::resize_file(path_, std::uintmax_t{1} << 40);
  EXPECT_FALSE(live.read());
  EXPECT_EQ(live.bytes(), 0U);
}

TEST_F(LiveRowsTest, LeaveARowThatIsBeingWrittenForTheNextLook) {
  LiveRows live(options_, path_);
  EXPECT_FALSE(live.read());
  const std::string row = interval(0, 5);
  append(testing::header() + row.substr(0, 20));
  EXPECT_FALSE(live.read());
  append(row.substr(20));
  EXPECT_TRUE(live.read());
  EXPECT_FALSE(live.read());
  EXPECT_EQ(live.intervals(), 1U);
}

}  // namespace
}  // namespace syscost::bench::commands
