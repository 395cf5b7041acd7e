// SPDX-License-Identifier: MIT
#include "stats/scatter.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <deque>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench.h"
#include "csv_text.h"
#include "judged_suite.h"
#include "windows.h"

namespace syscost::bench::stats {
namespace {

using Suite = JudgedSuite;

TEST(Scatter, MakesNoRegressionOfACountThatShrankInAnotherTest) {
  Suite suite;
  suite.add("write", {50}, {53}).add("write", {40}, {38});
  EXPECT_EQ(suite.first(), Verdict::near);
  EXPECT_EQ(suite.rows.front().reason, "write varied in other tests of its program, too");
  EXPECT_TRUE(suite.scattered.empty());
}

TEST(Scatter, HidesNothingWhereNothingShrank) {
  EXPECT_EQ(Suite().add("write", {50}, {51}).add("write", {40}, {40}).first(), Verdict::regressed);
  EXPECT_EQ(Suite().add("write", {50}, {51}).add("write", {40}, {41}).first(), Verdict::regressed);
  // Another syscall, another program, a test that waits for nothing.
  EXPECT_EQ(Suite().add("write", {50}, {53}).add("read", {40}, {38}).first(), Verdict::regressed);
  EXPECT_EQ(Suite().add("write", {50}, {53}).add("write", {40}, {38}, true, "other_test").first(), Verdict::regressed);
  EXPECT_EQ(Suite().add("write", {50}, {53}, false).add("write", {40}, {38}).first(), Verdict::regressed);
  EXPECT_EQ(Suite().add("write", {50}, {53}).add("write", {40}, {38}, false).first(), Verdict::regressed);
}

TEST(Scatter, HidesNoLargeGrowth) {
  EXPECT_EQ(Suite().add("write", {60}, {80}).add("write", {40}, {38}).first(), Verdict::near);
  EXPECT_EQ(Suite().add("write", {60}, {81}).add("write", {40}, {38}).first(), Verdict::regressed);
  // But where as much shrank elsewhere.
  EXPECT_EQ(Suite().add("write", {60}, {81}).add("write", {40}, {18}).first(), Verdict::near);
}

TEST(Scatter, HidesNoFirstCallButWhereSeveralTestsLostTheirs) {
  EXPECT_EQ(Suite().add("read", {0}, {1}).add_times(2, "read", {1}, {0}).first(), Verdict::regressed);
  // More tests lost the call than gained it, so it has not just moved.
  EXPECT_EQ(Suite().add("read", {0}, {1}).add_times(4, "read", {1}, {0}).first(), Verdict::near);
  EXPECT_EQ(Suite().add("read", {0}, {2}).add_times(4, "read", {1}, {0}).first(), Verdict::regressed);
}

TEST(Scatter, HidesNoCallThatManyTestsMakeMoreOf) {
  EXPECT_EQ(Suite().add_times(10, "write", {50}, {51}).add("write", {40}, {38}).first(), Verdict::near);
  EXPECT_EQ(Suite().add_times(11, "write", {50}, {51}).add("write", {40}, {38}).first(), Verdict::regressed);
}

TEST(Scatter, HidesNothingOfABaselineThatKnowsBetter) {
  EXPECT_EQ(Suite().add("write", {50, 50, 50}, {53}).add("write", {40, 40, 40}, {38}).first(), Verdict::regressed);
}

TEST(Scatter, HidesNothingThatIsToBeToldExactly) {
  Tolerance exact;
  exact.rel = 0;
  EXPECT_EQ(Suite(exact).add("write", {50}, {53}).add("write", {40}, {38}).first(), Verdict::regressed);
}

TEST(Scatter, OfManyTestsIsAWarningAndKeepsSingleCallsFromBeingJudged) {
  Suite suite;
  suite.add("getpid", {27}, {28}).add_scattered(20);
  EXPECT_EQ(suite.first(), Verdict::near);
  EXPECT_EQ(suite.rows.front().reason, "counts scatter in many tests of its program");
  ASSERT_EQ(suite.scattered.size(), 1U);
  EXPECT_EQ(
      warning_of(suite.scattered.front()),
      "counts of server_test scatter: in 20 of its 25 tests that wait for other threads or processes some shrank, so "
      "single additional calls are not gated there; use budgets, or fix the order of its threads and servers");
  EXPECT_EQ(Suite().add("getpid", {27}, {28}).add_scattered(19).first(), Verdict::regressed);
  // Many, and few of all.
  EXPECT_EQ(Suite().add("getpid", {27}, {28}).add_scattered(20).add_times(80, "read", {40}, {40}).first(),
            Verdict::regressed);
}

TEST(Scatter, OfManyTestsIsNoImprovementEither) {
  Suite suite;
  suite.add("getpid", {27}, {26}).add("getpid", {60}, {39}).add_scattered(20);
  EXPECT_EQ(suite.first(), Verdict::near);
  EXPECT_EQ(suite.rows[1].verdict, Verdict::near) << "a third, and no more than it shrank here";
  EXPECT_EQ(suite.rows[2].verdict, Verdict::near);
  Suite all;
  all.add_times(6, "getpid", {27}, {26}).add_scattered(20);
  EXPECT_EQ(all.first(), Verdict::improved) << "that has a direction";
}

// A change that saves calls in all tests has a direction: it hides no other one.
TEST(Scatter, OfManyTestsIsNoneWhereHardlyAnyMakesMoreCalls) {
  Suite suite;
  suite.add("getpid", {27}, {28}).add_times(21, "read", {40}, {38}).add_times(3, "read", {40}, {41});
  EXPECT_EQ(suite.first(), Verdict::regressed);
  EXPECT_TRUE(suite.scattered.empty());
}

TEST(Scatter, OfManyTestsHidesNeitherManyCallsNorWhatManyTestsMakeMoreOf) {
  EXPECT_EQ(Suite().add("getpid", {27}, {47}).add_scattered(20).first(), Verdict::near);
  EXPECT_EQ(Suite().add("getpid", {27}, {48}).add_scattered(20).first(), Verdict::regressed);
  EXPECT_EQ(Suite().add_times(5, "getpid", {27}, {28}).add_scattered(20).first(), Verdict::near);
  EXPECT_EQ(Suite().add_times(6, "getpid", {27}, {28}).add_scattered(20).first(), Verdict::regressed);
}

TEST(Scatter, IsNoWarningWhereAllIsToBeToldExactly) {
  Tolerance exact;
  exact.rel = 0;
  Suite suite(exact);
  suite.add("getpid", {27}, {28}).add_scattered(20);
  EXPECT_EQ(suite.first(), Verdict::regressed);
  EXPECT_TRUE(suite.scattered.empty());
  Suite known(exact);
  known.add("read", {27, 27, 27}, {28}).add_times(20, "read", {40, 38, 40}, {40});
  EXPECT_EQ(known.first(), Verdict::regressed);
  EXPECT_TRUE(known.scattered.empty());
}

// A test of 800 000 calls that makes half of them says nothing of one that makes ten.
TEST(Scatter, HidesNothingByWhatShrankInMuchLargerTests) {
  EXPECT_EQ(Suite().add("write", {10}, {900}).add("write", {800000}, {400000}).first(), Verdict::regressed);
  EXPECT_EQ(Suite().add("write", {10}, {40}).add("write", {200}, {160}).first(), Verdict::near);
  EXPECT_EQ(Suite().add("write", {10}, {40}).add("write", {201}, {161}).first(), Verdict::regressed);
  EXPECT_EQ(Suite().add("write", {100}, {900}).add("write", {1000}, {100}).first(), Verdict::near);
}

/// Tests that race: three counts change together.
Suite& add_racing(Suite& suite, int times, double more) {
  for (int i = 0; i < times; ++i) {
    std::vector<SyscallSummary> before;
    std::vector<SyscallSummary> after;
    for (const char* call : {"openat", "read", "close"}) {
      before.push_back(syscall(call, spread_of({50})));
      after.push_back(syscall(call, spread_of({50 + more})));
    }
    suite.add_test(std::move(before), std::move(after));
  }
  return suite;
}

TEST(Scatter, OfTestsThatRaceHidesNothingThatMostOfThemMakeMoreOf) {
  Suite few;
  EXPECT_EQ(add_racing(few, 9, 1).first(), Verdict::near);
  Suite all;
  EXPECT_EQ(add_racing(all, 10, 1).first(), Verdict::regressed);
  for (const Comparison& row : all.rows) {
    EXPECT_EQ(row.verdict, Verdict::regressed);
    EXPECT_EQ(row.reason, "");
  }
  // Not most of them; and some of them fewer.
  Suite half;
  add_racing(half, 10, 1);
  EXPECT_EQ(add_racing(half, 10, 0).first(), Verdict::near);
  Suite both;
  add_racing(both, 10, 1);
  EXPECT_EQ(add_racing(both, 1, -1).first(), Verdict::near);
}

/// A test that reads `before` times and looks too early once; then `more` times more of both.
Suite& add_untimely(Suite& suite, int times, double more) {
  const auto reads = [](double early) {
    SyscallSummary one = syscall("read", spread_of({40 + early}));
    one.errors = spread_of({early});
    (*one.errnos)["EAGAIN"] = *spread_of({early});
    return one;
  };
  for (int i = 0; i < times; ++i) suite.add_test({reads(5)}, {reads(5 + more)});
  return suite;
}

// A busy machine makes all tests look too early more often.
TEST(Scatter, TakesCallsThatCameTooEarlyForNoDirection) {
  Suite more;
  more.add("read", {50}, {51}).add("read", {40}, {38});
  EXPECT_EQ(add_untimely(more, 30, 1).first(), Verdict::near);
  EXPECT_EQ(more.rows.back().verdict, Verdict::near);
  Suite fewer;
  fewer.add("getpid", {27}, {28});
  EXPECT_EQ(add_untimely(fewer, 20, -1).first(), Verdict::near);
  EXPECT_EQ(fewer.scattered.size(), 1U);
}

// On an idle machine each thread ends before its test does.
TEST(Scatter, TakesWhatThreadsCallWhenTheyEndForNoDirection) {
  Suite suite;
  for (int i = 0; i < 12; ++i) {
    const auto ended = [](double threads) {
      return std::vector<SyscallSummary>{syscall("clone3", spread_of({2})), syscall("exit", spread_of({threads}))};
    };
    suite.add_test(ended(1), ended(2));
  }
  EXPECT_EQ(suite.first(), Verdict::near);
}

TEST(Scatter, OfABaselineIsWhatVariedInItsRuns) {
  Suite suite;
  suite.add("read", {27, 27, 27}, {28}).add_times(20, "read", {40, 38, 40}, {40});
  EXPECT_EQ(suite.first(), Verdict::near);
  ASSERT_EQ(suite.scattered.size(), 1U);
  EXPECT_NE(warning_of(suite.scattered.front()).find("varied in OLD"), std::string::npos);
  // Then fewer calls in NEW are no sign of chance: the runs of the baseline were equal.
  EXPECT_EQ(Suite().add("read", {27, 27, 27}, {28}).add_times(20, "read", {40, 40, 40}, {38}).first(),
            Verdict::regressed);
}

// A count that agrees in all tests and runs of OLD is exact there too.
TEST(Scatter, OfManyTestsHidesNoSyscallThatNoneOfThemMakesOrThatAllAgreeOn) {
  EXPECT_EQ(Suite().add("fsync", {0}, {1}).add_scattered(20).first(), Verdict::regressed);
  EXPECT_EQ(Suite().add("fsync", {0}, {1}).add("fsync", {1}, {1}).add_scattered(20).first(), Verdict::near);
  EXPECT_EQ(Suite()
                .add("fsync", {1, 1, 1}, {2})
                .add("fsync", {1, 1, 1}, {1})
                .add_times(20, "read", {40, 38, 40}, {40})
                .first(),
            Verdict::regressed);
}

/// Runs with two tests that wait, which write so often.
std::string two_tests(int first, int second) {
  std::string text = testing::header();
  for (const auto& [test, calls] : {std::pair("S.First", first), std::pair("S.Second", second)}) {
    text += testing::test_row({{"test", test}, {"total_calls", std::to_string(calls + 5)}}) +
            testing::syscall_row({{"test", test}, {"calls", std::to_string(calls)}}) +
            testing::syscall_row({{"test", test}, {"syscall", "futex"}, {"class", "wait;volatile"}, {"calls", "5"}});
  }
  return text;
}

TEST(Scatter, IsSeenInTestsThatWereNotChosen) {
  const std::string folder = ::testing::TempDir();
  const std::string before = folder + "/scatter-before.csv";
  const std::string after = folder + "/scatter-after.csv";
  std::ofstream(before) << two_tests(50, 40);
  std::ofstream(after) << two_tests(53, 38);
  for (const std::vector<std::string>& which : {std::vector<std::string>{}, {"--test", "S.First"}}) {
    std::vector<std::string> args = {"compare", before, after};
    args.insert(args.end(), which.begin(), which.end());
    std::ostringstream out;
    std::ostringstream err;
    EXPECT_EQ(bench_main(args, out, err), 0) << out.str() << err.str();
    EXPECT_NE(out.str().find("write varied in other tests"), std::string::npos) << out.str();
  }
  std::remove(before.c_str());
  std::remove(after.c_str());
}

// A call that moved from a test that races to one that does not.
TEST(Scatter, ComesAfterWhatOnlyMoved) {
  Suite suite;
  suite.add("read", {3}, {4}, false).add("read", {9}, {8});
  EXPECT_EQ(suite.first(), Verdict::moved);
}

}  // namespace
}  // namespace syscost::bench::stats
