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
