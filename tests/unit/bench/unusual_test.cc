// SPDX-License-Identifier: MIT
#include "stats/watched_series.h"

#include <gtest/gtest.h>

#include <vector>

#include "csv_text.h"
#include "loaded.h"

namespace syscost::bench::stats {
namespace {

using Values = std::vector<double>;

TEST(Unusual, IsUnknownWithoutEnoughValuesBefore) {
  EXPECT_FALSE(judge_unusual(1e9, Values(kLeastBefore - 1, 3), Measure::count));
  EXPECT_TRUE(judge_unusual(1e9, Values(kLeastBefore, 3), Measure::count));
}

TEST(Unusual, ASeriesThatWasConstantMayStillDifferAsCountsDo) {
  const Values constant(60, 100);
  EXPECT_FALSE(judge_unusual(101, constant, Measure::count));
  EXPECT_FALSE(judge_unusual(159, constant, Measure::count)) << "below 6 times the square root of 100";
  EXPECT_EQ(judge_unusual(160, constant, Measure::count)->severity, Severity::low);
  EXPECT_EQ(judge_unusual(200, constant, Measure::count)->severity, Severity::medium);
  EXPECT_EQ(judge_unusual(300, constant, Measure::count)->severity, Severity::high);
  EXPECT_EQ(judge_unusual(300, constant, Measure::count)->usual, 100);
  EXPECT_LT(judge_unusual(0, constant, Measure::count)->z, 0) << "lower than usual is unusual, too";
}

TEST(Unusual, AfterNothingATraceOfCallsIsNot) {
  const Values nothing(60, 0);
  EXPECT_FALSE(judge_unusual(5, nothing, Measure::count));
  EXPECT_TRUE(judge_unusual(6, nothing, Measure::count));
}

TEST(Unusual, IsNotWhatWasThereInTheMinuteBefore) {
  Values before(60, 100);
  before[10] = 5000;
  EXPECT_FALSE(judge_unusual(5000, before, Measure::count));
  EXPECT_TRUE(judge_unusual(5001, before, Measure::count)) << "one outlier does not move what is usual";
}

TEST(Unusual, OfATimeMeansMoreThanItsScatter) {
  const Values before(60, 1000);
  EXPECT_FALSE(judge_unusual(1290, before, Measure::duration));
  EXPECT_TRUE(judge_unusual(1310, before, Measure::duration));
  EXPECT_FALSE(judge_unusual(10, Values(60, 0), Measure::duration)) << "there is no scale";
}

// ---- a command's intervals ------------------------------------------------------------------------------------------

std::string interval(int number, int writes, const std::string& wall_ns = "1000000000") {
  const testing::Cells key = {{"kind", "interval"}, {"test", "server"}, {"repetition", std::to_string(number)}};
  testing::Cells totals = {{"wall_ns", wall_ns}, {"outcome", ""}};
  testing::Cells calls = {{"syscall", "write"}, {"calls", std::to_string(writes)}, {"entries", std::to_string(writes)}};
  totals.insert(key.begin(), key.end());
  calls.insert(key.begin(), key.end());
  return testing::test_row(totals) + testing::syscall_row(calls);
}

TEST(WatchedSeries, HasItsIntervalsInOrderAndFindsTheOneThatDiffers) {
  std::string rows;
  for (int i = 40; i-- > 0;) rows += interval(i, i == 30 ? 9000 : 100);
  model::LoadOptions options;
  options.keep_intervals = true;
  const testing::Loaded loaded = testing::load(rows, options);
  EXPECT_EQ(loaded.problems, "");
  std::string command;
  const std::vector<WatchedInterval> intervals = intervals_of(loaded.data, command);
  EXPECT_EQ(command, "server");
  ASSERT_EQ(intervals.size(), 40U);
  EXPECT_EQ(intervals[7].number, 7U);
  for (std::size_t at = 0; at < intervals.size(); ++at) {
    const std::vector<Finding> findings = findings_in(intervals, at);
    if (at != 30) {
      EXPECT_TRUE(findings.empty()) << at;
      continue;
    }
    ASSERT_FALSE(findings.empty());
    EXPECT_EQ(findings[0].syscall, "write");
    EXPECT_EQ(findings[0].what, Watched::calls);
  }
}

TEST(WatchedSeries, OfLongIntervalsTheThirtyBeforeCount) {
  std::string rows;
  for (int i = 0; i < 40; ++i) rows += interval(i, i == 35 ? 9000 : 100, "10000000000");
  model::LoadOptions options;
  options.keep_intervals = true;
  std::string command;
  const std::vector<WatchedInterval> intervals = intervals_of(testing::load(rows, options).data, command);
  EXPECT_EQ(first_of_minute(intervals, 35), 5U);
  EXPECT_FALSE(findings_in(intervals, 35).empty());
}

TEST(WatchedSeries, DoesNotJudgeAnIntervalThatIsCutOff) {
  std::string rows;
  for (int i = 0; i < 30; ++i) rows += interval(i, 100);
  rows += interval(30, 9000, "400000000");
  model::LoadOptions options;
  options.keep_intervals = true;
  std::string command;
  const std::vector<WatchedInterval> intervals = intervals_of(testing::load(rows, options).data, command);
  EXPECT_TRUE(findings_in(intervals, 30).empty());
}

TEST(WatchedSeries, KnowsNoCallsOfAnIntervalThatWasNotCounted) {
  for (const char* const total_calls : {"", "100"}) {  // with totals and no rows, rows are missing
    std::string rows;
    for (int i = 0; i < 40; ++i) rows += i == 35 ? "" : interval(i, 100);
    rows += testing::test_row({{"kind", "interval"},
                               {"test", "server"},
                               {"repetition", "35"},
                               {"wall_ns", "1000000000"},
                               {"outcome", ""},
                               {"total_calls", total_calls}});
    model::LoadOptions options;
    options.keep_intervals = true;
    std::string command;
    const std::vector<WatchedInterval> intervals = intervals_of(testing::load(rows, options).data, command);
    ASSERT_EQ(intervals.size(), 40U);
    EXPECT_TRUE(findings_in(intervals, 35).empty());
  }
}

TEST(WatchedSeries, IsNoWindowOfOtherCommands) {
  EXPECT_TRUE(testing::load(interval(0, 100)).data.samples.empty());
}

}  // namespace
}  // namespace syscost::bench::stats
