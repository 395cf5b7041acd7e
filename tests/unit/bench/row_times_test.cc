// SPDX-License-Identifier: MIT
#include "judge/row_times.h"

#include <gtest/gtest.h>

namespace syscost::bench::judge {
namespace {

using Values = std::vector<double>;

stats::WindowSummary window(Values times_ns, std::string_view kind = "test") {
  stats::WindowSummary one;
  one.name = "S.T";
  one.kind = kind;
  one.n = times_ns.size();
  one.outcomes["passed"] = one.n;
  one.calls = stats::Spread{one.n, 0, 0, 0};
  one.lost = 0;
  one.process_times_ns = {stats::spread_of(times_ns)->median};
  one.times_ns = std::move(times_ns);
  return one;
}

Comparison judged(const stats::WindowSummary& old_window, const stats::WindowSummary& new_window,
                  const ComparableTimes& comparable = {}) {
  std::vector<Comparison> rows = {compare_windows(&old_window, &new_window, {})};
  judge_row_times(rows, comparable, {});
  return rows.front();
}

const Values kFast = {100, 101, 102, 103, 104};
const Values kSlow = {200, 201, 202, 203, 204};

TEST(RowTimes, AreJudgedBesideTheCounts) {
  const stats::WindowSummary old_window = window(kFast);
  const stats::WindowSummary new_window = window(kSlow);
  const Comparison row = judged(old_window, new_window);
  EXPECT_EQ(row.verdict, Verdict::same) << "the counts are";
  ASSERT_TRUE(row.time.has_value());
  EXPECT_EQ(row.time->verdict, Verdict::regressed);
  EXPECT_TRUE(row.has_changes());
}

TEST(RowTimes, AreNotJudgedWhereTheySayNothing) {
  const stats::WindowSummary old_window = window(kFast);
  stats::WindowSummary failed = window(kSlow);
  failed.outcomes = {{"failed", 5}};
  EXPECT_FALSE(judged(old_window, failed).time.has_value());
  const stats::WindowSummary set_up = window(kSlow, "suite");
  EXPECT_FALSE(judged(window(kFast, "suite"), set_up).time.has_value());
  stats::WindowSummary untimed = window(kSlow);
  untimed.times_ns.clear();
  EXPECT_FALSE(judged(old_window, untimed).time.has_value());
}

TEST(RowTimes, OfLoopsAndBenchmarksDoNotDependOnTheBackend) {
  const ComparableTimes other_backend{.measured = false, .unmeasured = true};
  EXPECT_FALSE(judged(window(kFast), window(kSlow), other_backend).time.has_value());
  EXPECT_TRUE(judged(window(kFast, "loop"), window(kSlow, "loop"), other_backend).time.has_value());
  EXPECT_TRUE(judged(window(kFast, "benchmark"), window(kSlow, "benchmark"), other_backend).time.has_value());
}

/// A loop with so many calls in a pass.
stats::WindowSummary loop(Values times_ns, double calls) {
  stats::WindowSummary one = window(std::move(times_ns), "loop");
  one.loop = "f";
  one.is_per_iteration = true;
  one.iterations = stats::Spread{one.n, calls, calls, calls};
  return one;
}

TEST(RowTimes, OfLoopsAreNoVerdictWhereTheClockExplainsTheDifference) {
  // A call of 1 ns in passes of 1000 and of 50 calls: reading the clock adds 100 ns to each pass.
  const Values of_long_passes = {1.1, 1.1, 1.1, 1.1, 1.1, 1.1};
  const Values of_short_passes = {2.9, 2.9, 2.9, 2.9, 2.9, 2.9};
  EXPECT_EQ(judged(loop(of_long_passes, 1000), loop(of_short_passes, 50)).time->verdict, Verdict::inconclusive);
  EXPECT_EQ(judged(loop(of_short_passes, 50), loop(of_long_passes, 1000)).time->verdict, Verdict::inconclusive);
  EXPECT_EQ(judged(loop(of_long_passes, 1000), loop(of_short_passes, 1000)).time->verdict, Verdict::regressed);
  EXPECT_EQ(judged(loop(of_long_passes, 100000), loop(of_short_passes, 5000)).time->verdict, Verdict::regressed);
  // More than a clock can be.
  EXPECT_EQ(judged(loop(of_long_passes, 1000), loop(Values(6, 4.0), 50)).time->verdict, Verdict::regressed);
}

/// A window with these processor times beside equal wall times.
stats::WindowSummary busy(Values cpu_ns, std::uint64_t step_ns = 1000) {
  stats::WindowSummary one = window(Values(cpu_ns.size(), 1e6));
  one.cpu_ns = stats::spread_of(cpu_ns);
  one.cpu.least_ns = static_cast<std::uint64_t>(one.cpu_ns->min);
  one.cpu.step_ns = step_ns;
  one.cpu.process_times_ns = {one.cpu_ns->median};
  one.cpu.times_ns = std::move(cpu_ns);
  return one;
}

TEST(RowTimes, OfTheProcessorAreJudgedBesideWallTimes) {
  const stats::WindowSummary old_window = busy({500e3, 501e3, 502e3, 503e3, 504e3});
  const stats::WindowSummary new_window = busy({550e3, 551e3, 552e3, 553e3, 554e3});
  const Comparison row = judged(old_window, new_window);
  EXPECT_EQ(row.time->verdict, Verdict::same);
  ASSERT_TRUE(row.cpu.has_value());
  EXPECT_EQ(row.cpu->verdict, Verdict::regressed);
  EXPECT_EQ(row.verdict, Verdict::same) << "the counts are";
  EXPECT_TRUE(row.has_changes());
}

TEST(RowTimes, OfTheProcessorAreAFamilyOfTheirOwn) {
  // Five samples are enough for one test and not for fifty: of wall times there are fifty, of the others one.
  const stats::WindowSummary plain = window(kFast);
  const stats::WindowSummary old_window = busy({500e3, 501e3, 502e3, 503e3, 504e3});
  const stats::WindowSummary new_window = busy({550e3, 551e3, 552e3, 553e3, 554e3});
  std::vector<Comparison> rows(50, compare_windows(&plain, &plain, {}));
  rows.push_back(compare_windows(&old_window, &new_window, {}));
  judge_row_times(rows, {}, {});
  EXPECT_FALSE(rows.front().cpu.has_value());
  EXPECT_EQ(rows.back().cpu->verdict, Verdict::regressed);
}

TEST(RowTimes, OfTheProcessorAreNoFindingWhereTheClockIsCoarse) {
  const Values one_tick(10, 4e6);
  const Values two_ticks(10, 8e6);
  for (const Values& new_ns : {one_tick, two_ticks}) {
    const stats::WindowSummary old_window = busy(one_tick, 4'000'000);
    const stats::WindowSummary new_window = busy(new_ns, 4'000'000);
    const Comparison row = judged(old_window, new_window);
    EXPECT_EQ(row.cpu->verdict, Verdict::insufficient);
    EXPECT_EQ(row.cpu->reason, "too short for a clock with steps of 4000000 ns");
    EXPECT_FALSE(is_undecided(row.cpu)) << "more samples do not help";
  }
  const stats::WindowSummary none = busy(Values(10, 0), 0);
  EXPECT_EQ(judged(none, none).cpu->reason, "a repetition took no processor time that its clock could see");
}

TEST(RowTimes, TakeAProcessAsOneSampleWhereThereAreSeveral) {
  stats::WindowSummary old_window = window(kFast);
  old_window.process_times_ns = {102, 102};
  const stats::WindowSummary new_window = window(kSlow);
  const Comparison row = judged(old_window, new_window);
  EXPECT_TRUE(samples_are_processes(row));
  EXPECT_EQ(row.time->verdict, Verdict::insufficient) << "one process says nothing, however often it repeats";
  EXPECT_TRUE(is_undecided(row.time));
}

TEST(RowTimes, AreTheVerdictOfARowWithoutCounts) {
  stats::WindowSummary old_window = window(kFast, "benchmark");
  stats::WindowSummary new_window = window(kSlow, "benchmark");
  old_window.is_plain = new_window.is_plain = true;
  old_window.calls.reset();
  new_window.calls.reset();
  const Comparison row = judged(old_window, new_window);
  EXPECT_TRUE(row.is_plain);
  EXPECT_EQ(row.verdict, Verdict::regressed);
  EXPECT_EQ(row.reason, "");
}

}  // namespace
}  // namespace syscost::bench::judge
