// SPDX-License-Identifier: MIT
//
// A count in doubt is decided by as many runs as chance needs, and no verdict depends on another test's counts but by
// how many there are that vary.
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "judge/verdict.h"
#include "windows.h"

namespace syscost::bench::judge {
namespace {

class Doubts : public ::testing::Test {
 protected:
  /// A test of several threads that reads so often in each run.
  void add(const std::vector<double>& before, const std::vector<double>& after) {
    rows_.push_back(compare_windows(&reads(before), &reads(after), {}));
  }
  Comparison first() const {
    std::vector<Comparison> rows = rows_;
    decide_doubts(rows);
    return rows.front();
  }

 private:
  const stats::WindowSummary& reads(const std::vector<double>& counts) {
    stats::WindowSummary& one = windows_.emplace_back(window({syscall("read", *stats::spread_of(counts))}));
    one.n = counts.size();
    one.has_other_threads = true;
    return one;
  }

  std::deque<stats::WindowSummary> windows_;
  std::vector<Comparison> rows_;
};

std::vector<double> times(std::size_t n, double count) {
  return std::vector<double>(n, count);
}

// C(14, 7) = 3432, C(12, 6) = 924: the first is more than 1000.
TEST_F(Doubts, AreDecidedBySevenRunsOfEachSide) {
  add(times(7, 20), times(7, 21));
  EXPECT_EQ(first().verdict, Verdict::regressed);
  EXPECT_EQ(first().reason, "");
}

// A side that makes no such call has no count of it, but as many runs.
TEST(DoubtsOfANewSyscall, AreDecidedAsAnyOther) {
  const auto side = [](std::vector<stats::SyscallSummary> calls, std::size_t n) {
    stats::WindowSummary one = window(std::move(calls));
    one.n = n;
    one.has_other_threads = true;
    return one;
  };
  for (const std::size_t n : {7U, 6U}) {
    const stats::WindowSummary without = side({}, n);
    const stats::WindowSummary with = side({syscall("read", *stats::spread_of(times(n, 3)))}, n);
    std::vector<Comparison> rows = {compare_windows(&without, &with, {})};
    decide_doubts(rows);
    EXPECT_EQ(rows[0].verdict, n == 7 ? Verdict::regressed : Verdict::in_doubt) << n;
    rows = {compare_windows(&with, &without, {})};
    decide_doubts(rows);
    EXPECT_EQ(rows[0].verdict, n == 7 ? Verdict::improved : Verdict::in_doubt) << n;
  }
}

TEST(DoubtsBesideAFile, SayHowManyRunsOfNewAreNeeded) {
  const auto reason = [](std::size_t of_old) {
    const auto side = [](double count, std::size_t n) {
      stats::WindowSummary one = window({syscall("read", *stats::spread_of(times(n, count)))});
      one.n = n;
      one.has_other_threads = true;
      return one;
    };
    const stats::WindowSummary before = side(20, of_old);
    const stats::WindowSummary after = side(21, 1);
    std::vector<Comparison> rows = {compare_windows(&before, &after, {})};
    decide_doubts(rows, RunsAgain::new_side);
    return rows[0].reason;
  };
  EXPECT_EQ(reason(1), "other threads made calls, so it may be chance: 1 run of OLD is too few to tell");
  EXPECT_EQ(reason(2), "other threads made calls, so it may be chance: 2 runs of OLD are too few to tell");
  EXPECT_EQ(reason(5), "other threads made calls, so it may be chance: 8 runs of NEW tell");
}

// glibc's mkstemp() draws a second number about once in 22 times, and makes no getrandom else.
TEST(DoubtsOfRandomNumbers, AreOfTestsThatMakeFilesOnBothSides) {
  const auto verdict = [](std::vector<stats::SyscallSummary> before, std::vector<stats::SyscallSummary> after) {
    std::deque<stats::WindowSummary> sides = {window(std::move(before)), window(std::move(after))};
    for (stats::WindowSummary& side : sides) side.has_other_threads = false;
    std::vector<Comparison> rows = {compare_windows(&sides[0], &sides[1], {})};
    decide_doubts(rows);
    return rows[0].verdict;
  };
  const auto once = [](const char* name) { return syscall(name, *stats::spread_of({1})); };
  for (const char* const makes : {"openat", "mkdir"}) {
    EXPECT_EQ(verdict({once(makes)}, {once(makes), once("getrandom")}), Verdict::in_doubt) << makes;
  }
  EXPECT_EQ(verdict({once("openat")}, {once("openat"), once("getppid")}), Verdict::regressed);
  EXPECT_EQ(verdict({once("getppid")}, {once("getppid"), once("getrandom")}), Verdict::regressed);
  EXPECT_NE(verdict({once("openat")}, {once("getrandom")}), Verdict::in_doubt) << "/dev/urandom is opened no more";
}

TEST_F(Doubts, OfFewerRunsSayHowManyAreNeeded) {
  add(times(6, 20), times(6, 21));
  EXPECT_EQ(first().verdict, Verdict::in_doubt);
  EXPECT_EQ(first().reason, "other threads made calls, so it may be chance: 7 runs of each side tell");
}

// C(13, 3) = 286, C(23, 3) = 1771.
TEST_F(Doubts, OfABaselineOfThreeRunsTakeTwentyRunsMore) {
  add(times(3, 20), times(10, 21));
  EXPECT_EQ(first().verdict, Verdict::in_doubt);
}

TEST_F(Doubts, OfManyCountsNeedMoreRuns) {
  add(times(7, 20), times(7, 21));
  for (int i = 0; i < 9; ++i) add({4, 4, 5, 4, 4, 5, 4}, {5, 4, 4, 5, 4, 4, 4});
  EXPECT_EQ(first().verdict, Verdict::in_doubt);
  EXPECT_EQ(first().reason, "other threads made calls, so it may be chance: 8 runs of each side tell");
}

// A count that no run varies cannot be red by chance.
TEST_F(Doubts, AreNotMoreForCountsThatNeverVary) {
  add(times(7, 20), times(7, 21));
  for (int i = 0; i < 1000; ++i) add(times(7, 4), times(7, 4));
  EXPECT_EQ(first().verdict, Verdict::regressed);
}

TEST_F(Doubts, OfRunsThatOverlapAreNone) {
  add({20, 21, 20, 20, 20, 20, 20}, times(7, 21));
  EXPECT_EQ(first().verdict, Verdict::near);
}

/// The reason of a doubt, if other threads made calls `before` and `after`, and a test that waits reads `now` times.
std::string why(std::optional<bool> before, std::optional<bool> after, const stats::Spread& now) {
  stats::SyscallSummary futex = syscall("futex", exact(5));
  futex.classes = "wait;volatile";
  futex.is_wait = true;
  stats::WindowSummary old_window = window({syscall("read", exact(20)), futex});
  stats::WindowSummary new_window = window({syscall("read", now), futex});
  old_window.has_other_threads = before;
  new_window.has_other_threads = after;
  std::vector<Comparison> rows = {compare_windows(&old_window, &new_window, {})};
  decide_doubts(rows);
  return rows.front().reason.substr(0, rows.front().reason.find(','));
}

TEST(ReasonsOfDoubts, AreTheSideWithThreadsOrNoKnowledgeOfThemOrCountsThatVary) {
  EXPECT_EQ(why(true, false, exact(21)), "other threads made calls");
  EXPECT_EQ(why(false, true, exact(21)), "other threads made calls");
  EXPECT_EQ(why({}, {}, exact(21)), "other threads may have made calls");
  EXPECT_EQ(why(false, {}, exact(21)), "other threads may have made calls");
  EXPECT_EQ(why(false, false, *stats::spread_of({21, 22})), "counts vary");
}

TEST_F(Doubts, AreDecidedForFewerCalls) {
  add(times(7, 20), times(7, 19));
  EXPECT_EQ(first().verdict, Verdict::improved);
}

}  // namespace
}  // namespace syscost::bench::judge
