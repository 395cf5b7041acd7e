// SPDX-License-Identifier: MIT
//
// The decisions of further runs on the counts that differed between the first two.
#include "judge/open_counts.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "stats/summaries.h"
#include "windows.h"

namespace syscost::bench::judge {
namespace {

using CallsMade = std::vector<std::pair<std::string, double>>;

class Opened : public ::testing::Test {
 protected:
  /// A test of `tests` in two runs. `in_doubt`: several threads make its calls.
  Comparison compared(const CallsMade& before, const CallsMade& after, bool in_doubt = true) {
    std::vector<Comparison> rows = {compare_windows(&made(before, in_doubt), &made(after, in_doubt), {})};
    decide_doubts(rows);
    return rows.front();
  }
  /// One more run of NEW beside OLD's first.
  void run_new(OpenCounts& open, const CallsMade& before, const CallsMade& now, bool in_doubt = true) {
    open.take({}, {compared(before, now, in_doubt)}, true);
  }

 private:
  const stats::WindowSummary& made(const CallsMade& calls, bool in_doubt) {
    std::vector<stats::SyscallSummary> syscalls;
    for (const auto& [name, count] : calls) syscalls.push_back(syscall(name, *stats::spread_of({count})));
    stats::WindowSummary& one = windows_.emplace_back(window(std::move(syscalls)));
    one.name = "S.T";
    one.n = 1;
    one.program = "tests";
    one.has_other_threads = in_doubt;
    return one;
  }

  std::deque<stats::WindowSummary> windows_;
};

TEST_F(Opened, AreWhatIsInDoubtAndWhatGrew) {
  const Comparison in_doubt = compared({{"read", 5}}, {{"read", 6}});
  const Comparison fewer_in_doubt = compared({{"read", 6}}, {{"read", 5}});
  const Comparison grew = compared({{"read", 5}}, {{"read", 6}}, false);
  const Comparison fewer = compared({{"read", 6}}, {{"read", 5}}, false);
  const Comparison fewer_syncs = compared({{"fsync", 6}}, {{"fsync", 5}}, false);
  const Comparison same = compared({{"read", 5}}, {{"read", 5}});
  const auto tests = [](const Comparison& row) { return OpenCounts({row}, RunsAgain::both_sides).tests(); };
  EXPECT_EQ(tests(in_doubt), 1U);
  EXPECT_EQ(tests(fewer_in_doubt), 1U);
  EXPECT_EQ(tests(grew), 1U);
  EXPECT_EQ(tests(fewer), 0U);
  EXPECT_EQ(tests(fewer_syncs), 1U);
  EXPECT_EQ(tests(same), 0U);
  EXPECT_EQ(OpenCounts({grew}, RunsAgain::both_sides).programs(), std::set<std::string>{"tests"});
}

// OLD is a file with one run: no number of runs of NEW makes a count red that may vary.
TEST_F(Opened, StayInDoubtBesideAFileOfOneRun) {
  const OpenCounts open({compared({{"read", 5}}, {{"read", 6}})}, RunsAgain::new_side);
  EXPECT_EQ(open.tests(), 0U);
}

TEST_F(Opened, AreNotDecidedWhereNoNumberOfRunsCanTell) {
  OpenCounts open({compared({{"read", 5}}, {{"read", 7}}, false)}, RunsAgain::new_side);
  run_new(open, {{"read", 5}}, {{"read", 6}}, false);
  EXPECT_EQ(open.tests(), 0U);
  EXPECT_EQ(open.text(), ": 0 of 1 test decided; 1 stays in doubt: 40 runs cannot tell");
}

TEST_F(Opened, OfOneThreadStayRedIfARunRepeatsThem) {
  Comparison row = compared({{"read", 5}}, {{"read", 6}}, false);
  OpenCounts open({row}, RunsAgain::new_side);
  run_new(open, {{"read", 5}}, {{"read", 6}}, false);
  EXPECT_EQ(open.tests(), 0U);
  open.apply_to(row);
  EXPECT_EQ(row.verdict, Verdict::regressed);
  EXPECT_EQ(row.reason, "the same in 1 further run");
}

TEST_F(Opened, OfOneThreadAreNoChangeIfARunIsAsBefore) {
  Comparison row = compared({{"read", 5}}, {{"read", 6}}, false);
  OpenCounts open({row}, RunsAgain::new_side);
  run_new(open, {{"read", 5}}, {{"read", 5}}, false);
  EXPECT_EQ(open.text(), ": 1 of 1 test decided; no change after all: S.T");
  open.apply_to(row);
  EXPECT_EQ(row.verdict, Verdict::near);
  EXPECT_EQ(row.reason, "not so in 1 further run");
}

// They vary, so that one run of OLD tells nothing.
TEST_F(Opened, OfOneThreadAreInDoubtIfARunMakesAThirdNumber) {
  Comparison row = compared({{"read", 5}}, {{"read", 6}}, false);
  OpenCounts open({row}, RunsAgain::new_side);
  run_new(open, {{"read", 5}}, {{"read", 7}}, false);
  open.apply_to(row);
  EXPECT_EQ(row.verdict, Verdict::in_doubt);
  EXPECT_EQ(row.reason, "may be chance after 1 further run");
}

TEST_F(Opened, AreRedIfEachRunOfNewIsAboveSeveralOfOld) {
  std::deque<stats::WindowSummary> windows;
  for (const std::vector<double>& counts : {std::vector<double>(5, 20.0), std::vector<double>(1, 21.0)}) {
    stats::WindowSummary& one = windows.emplace_back(window({syscall("read", *stats::spread_of(counts))}));
    one.n = counts.size();
    one.has_other_threads = true;
  }
  std::vector<Comparison> rows = {compare_windows(&windows[0], &windows[1], {})};
  decide_doubts(rows);
  OpenCounts open(rows, RunsAgain::new_side);
  std::size_t runs = 0;
  for (; open.tests() > 0; ++runs) open.take({}, rows, true);
  EXPECT_EQ(runs, 7U) << "C(13, 5) is the first above 1000";
  open.apply_to(rows.front());
  EXPECT_EQ(rows.front().verdict, Verdict::regressed);
  EXPECT_EQ(rows.front().reason, "NEW's 8 runs lie above OLD's 5");
}

/// Runs of both sides in turns until they decide.
std::size_t runs_until_decided(OpenCounts& open, const Comparison& row) {
  std::size_t runs = 0;
  for (; open.tests() > 0 && runs < OpenCounts::kMostRuns; ++runs) open.take({}, {row}, runs % 2 == 0);
  return runs;
}

TEST_F(Opened, AreToldByTwelveRunsOfBothSides) {
  Comparison row = compared({{"read", 5}}, {{"read", 6}});
  OpenCounts open({row}, RunsAgain::both_sides);
  EXPECT_EQ(runs_until_decided(open, row), 12U);
  open.apply_to(row);
  EXPECT_EQ(row.verdict, Verdict::regressed);
  EXPECT_EQ(row.deltas.front().new_count.n, 7U);
  EXPECT_EQ(row.reason.substr(0, 29), "12 further runs tell, odds 18");
}

TEST_F(Opened, AreNoChangeIfBothSidesMakeTheSame) {
  Comparison row = compared({{"read", 5}}, {{"read", 6}});
  OpenCounts open({row}, RunsAgain::both_sides);
  const Comparison again = compared({{"read", 5}}, {{"read", 5}});
  EXPECT_EQ(runs_until_decided(open, again), 4U);
  open.apply_to(row);
  EXPECT_EQ(row.verdict, Verdict::near);
}

TEST_F(Opened, AreExchangedIfOthersOfTheFamilyBecameFewer) {
  Comparison row = compared({{"write", 300}, {"writev", 0}}, {{"write", 0}, {"writev", 1}});
  OpenCounts open({row}, RunsAgain::both_sides);
  runs_until_decided(open, row);
  open.apply_to(row);
  EXPECT_EQ(row.verdict, Verdict::exchanged);
}

TEST_F(Opened, OfSyncsAreRedIfTheyAreFewer) {
  Comparison row = compared({{"fsync", 3}}, {{"fsync", 1}});
  OpenCounts open({row}, RunsAgain::both_sides);
  runs_until_decided(open, row);
  open.apply_to(row);
  EXPECT_EQ(row.verdict, Verdict::regressed);
  EXPECT_NE(row.reason.find("fewer syncs"), std::string::npos) << row.reason;
}

TEST_F(Opened, AreLeaksThatCallsMakeLikely) {
  const CallsMade before = {{"openat", 20}, {"close", 20}};
  const CallsMade after = {{"openat", 20}, {"close", 18}};
  for (const double left : {0.0, 2.0}) {
    Comparison row = compared(before, after, false);
    ASSERT_EQ(row.verdict, Verdict::in_doubt) << row.reason;
    OpenCounts open({row}, RunsAgain::new_side);
    EXPECT_TRUE(open.asks_for_leaks());
    EXPECT_EQ(open.tests(), 1U);
    EXPECT_EQ(open.programs(), std::set<std::string>{"tests"});
    Comparison again = compared(before, after, false);
    stats::WindowSummary listed = *again.new_window;
    listed.descriptors_left = stats::spread_of({left});
    again.new_window = &listed;
    open.take({}, {again}, true);
    EXPECT_EQ(open.tests(), 0U);
    open.apply_to(row);
    EXPECT_EQ(row.verdict, left > 0 ? Verdict::in_doubt : Verdict::improved) << row.reason;
    EXPECT_EQ(row.reason.find("descriptors left open: +2") != std::string::npos, left > 0) << row.reason;
  }
}

TEST_F(Opened, LearnNothingFromATestThatFailed) {
  Comparison row = compared({{"read", 5}}, {{"read", 6}}, false);
  OpenCounts open({row}, RunsAgain::new_side);
  Comparison failed = compared({{"read", 5}}, {{"read", 5}}, false);
  failed.has_fault = true;
  open.take({}, {failed}, true);
  EXPECT_EQ(open.tests(), 1U);
}

/// A tear-down and a test of one program.
std::vector<stats::WindowSummary> tear_down_and_test(double calls) {
  std::vector<stats::WindowSummary> windows = {window({syscall("read", *stats::spread_of({calls}))}), window({})};
  windows[0].kind = "suite";
  windows[0].test = "S";
  windows[1].kind = "test";
  windows[1].test = "S.T";
  for (stats::WindowSummary& one : windows) {
    one.origin = schema::kOriginSyscost;
    one.program = "tests";
  }
  return windows;
}

// A tear-down that makes calls in some runs alone, by chance, of OLD as of NEW.
TEST_F(Opened, CountASetUpWithoutARowAsOneWithoutCalls) {
  std::vector<stats::WindowSummary> of_run = tear_down_and_test(2);
  for (stats::WindowSummary& one : of_run) one.has_other_threads = true;
  const std::vector<stats::WindowSummary> only_test = {of_run[1]};
  std::deque<stats::WindowSummary> made;
  const stats::WindowSummary* const none = stats::without_calls(of_run[0], only_test, made);
  ASSERT_NE(none, nullptr);
  std::vector<Comparison> rows = {compare_windows(none, &of_run[0], {})};
  decide_doubts(rows);
  OpenCounts open(rows, RunsAgain::both_sides);
  ASSERT_EQ(open.tests(), 1U);
  // Half of the runs of each side make the calls. A run of NEW that makes none is, beside OLD's first, in no row.
  for (std::size_t runs = 0; open.tests() > 0 && runs < OpenCounts::kMostRuns; ++runs) {
    const bool makes_calls = runs % 4 < 2;
    std::vector<Comparison> again;
    if (runs % 2 == 0 && makes_calls) again = {compare_windows(none, &of_run[0], {})};
    if (runs % 2 == 1) again = {compare_windows(makes_calls ? &of_run[0] : none, &of_run[0], {})};
    open.take(makes_calls ? of_run : only_test, again, runs % 2 == 0);
  }
  open.apply_to(rows.front());
  EXPECT_NE(rows.front().verdict, Verdict::regressed) << rows.front().reason;
  EXPECT_EQ(rows.front().deltas.front().new_count.min, 0) << "runs without the row have 0 calls";
  EXPECT_EQ(rows.front().deltas.front().old_count.max, 2);
}

// After a failure or a crash the tear-down may not have been made: no row does not mean no call.
TEST_F(Opened, LearnNothingOfASetUpFromARunInWhichATestDidNotPass) {
  const std::vector<stats::WindowSummary> before = tear_down_and_test(1);
  const std::vector<stats::WindowSummary> after = tear_down_and_test(2);
  for (const char* const outcome : {"failed", ""}) {
    OpenCounts open({compare_windows(&before[0], &after[0], {})}, RunsAgain::new_side);
    ASSERT_EQ(open.tests(), 1U);
    stats::WindowSummary test = after[1];
    test.outcomes.clear();
    if (*outcome != '\0') test.outcomes[outcome] = test.n;
    open.take({test}, {}, true);
    EXPECT_EQ(open.tests(), 1U) << outcome;
    open.take({after[1]}, {}, true);
    EXPECT_EQ(open.tests(), 0U);
  }
}

TEST_F(Opened, LearnNothingOfASetUpFromARunWithoutItsTests) {
  const std::vector<stats::WindowSummary> before = tear_down_and_test(1);
  const std::vector<stats::WindowSummary> after = tear_down_and_test(2);
  OpenCounts open({compare_windows(&before[0], &after[0], {})}, RunsAgain::new_side);
  ASSERT_EQ(open.tests(), 1U);
  open.take({}, {}, true);
  EXPECT_EQ(open.tests(), 1U);
}

}  // namespace
}  // namespace syscost::bench::judge
