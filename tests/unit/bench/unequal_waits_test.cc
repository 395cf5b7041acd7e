// SPDX-License-Identifier: MIT
#include "stats/unequal_waits.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "judged_suite.h"

namespace syscost::bench::stats {
namespace {

using Suite = JudgedSuite;

/// A test that waits `waits` times and makes `calls` of `name`.
std::vector<SyscallSummary> waits_and(double waits, const std::string& name, double calls) {
  return {futex_calls({waits}), syscall(name, spread_of({calls}))};
}

/// Adds a test that waited 30 times in OLD, and `waits` times in NEW.
Suite& add_waiting(Suite& suite, double waits, const std::string& name, double before, double after) {
  return suite.add_test(waits_and(30, name, before), waits_and(waits, name, after), false);
}

Verdict verdict_of_single_runs(double waits, const std::string& name, double before, double after) {
  Suite suite;
  return add_waiting(suite, waits, name, before, after).first();
}

SyscallSummary failing_once(const std::string& name, const std::string& errno_name, double errors) {
  SyscallSummary one = syscall(name, spread_of({10}));
  one.errors = spread_of({errors});
  if (errors > 0) (*one.errnos)[errno_name] = *spread_of({errors});
  return one;
}

// An event loop that turns once more.
TEST(UnequalWaits, MakeNoRegressionOfASingleRun) {
  Suite suite;
  EXPECT_EQ(add_waiting(suite, 32, "read", 2, 4).first(), Verdict::near);
  EXPECT_EQ(suite.rows.front().reason, "may be chance: it waited otherwise (futex 30 -> 32)");
  EXPECT_EQ(suite.unequal_waits, 1U);
  EXPECT_EQ(verdict_of_single_runs(28, "read", 2, 4), Verdict::near) << "less often";
  EXPECT_EQ(verdict_of_single_runs(32, "read", 4, 2), Verdict::near) << "and no improvement";
}

TEST(UnequalWaits, AreAlsoThoseThatFailOtherwise) {
  SyscallSummary late = futex_calls({30});
  (*late.errnos)["EAGAIN"] = *spread_of({2});
  Suite suite;
  suite.add_test({futex_calls({30}), syscall("clone3", spread_of({681}))}, {late, syscall("clone3", spread_of({682}))},
                 false);
  EXPECT_EQ(suite.first(), Verdict::near);
  EXPECT_EQ(suite.rows.front().reason, "may be chance: it waited otherwise (futex EAGAIN 0 -> 2)");
}

TEST(UnequalWaits, HideNothingOfTestsThatWaitAlike) {
  EXPECT_EQ(verdict_of_single_runs(30, "read", 2, 3), Verdict::regressed);
  EXPECT_EQ(Suite().add("read", {2}, {3}, false).first(), Verdict::regressed) << "it does not wait";
}

TEST(UnequalWaits, HideNothingOfABaselineThatKnowsBetter) {
  const auto verdict_of = [](const std::vector<double>& before) {
    Suite suite;
    return suite
        .add_test({futex_calls(std::vector<double>(before.size(), 30)), syscall("read", spread_of(before))},
                  waits_and(32, "read", 3), false)
        .first();
  };
  EXPECT_EQ(verdict_of({2, 2}), Verdict::near);
  EXPECT_EQ(verdict_of({2, 2, 2}), Verdict::regressed);
}

TEST(UnequalWaits, HideNoSyscallThatIsNewToTheRun) {
  EXPECT_EQ(verdict_of_single_runs(32, "fsync", 0, 1), Verdict::regressed);
  Suite suite;
  add_waiting(suite, 32, "fsync", 0, 1).add("fsync", {1}, {1}, false, "other_test");
  EXPECT_EQ(suite.first(), Verdict::near) << "another test of the run makes it";

  // Whether a socket is asked for its error depends on how fast it is connected.
  Suite network;
  SyscallSummary now = syscall("getsockopt", spread_of({2}));
  now.classes = "network";
  EXPECT_EQ(network.add_test({futex_calls({30})}, {futex_calls({32}), now}, false).first(), Verdict::near);
}

TEST(UnequalWaits, HideNoErrnoThatIsNewToTheRunButOfTheOtherEnd) {
  const auto verdict_of = [](const std::string& errno_name) {
    Suite suite;
    return suite
        .add_test({futex_calls({30}), failing_once("recvfrom", errno_name, 0)},
                  {futex_calls({32}), failing_once("recvfrom", errno_name, 1)}, false)
        .first();
  };
  EXPECT_EQ(verdict_of("ECONNRESET"), Verdict::near);
  EXPECT_EQ(verdict_of("EACCES"), Verdict::regressed);
}

TEST(UnequalWaits, HideNoGrowthFarBeyondTheWaits) {
  EXPECT_EQ(verdict_of_single_runs(31, "write", 10, 30), Verdict::near) << "20 calls";
  EXPECT_EQ(verdict_of_single_runs(31, "write", 10, 31), Verdict::regressed);
  EXPECT_EQ(verdict_of_single_runs(31, "write", 100, 200), Verdict::near) << "twice as many";
  EXPECT_EQ(verdict_of_single_runs(31, "write", 100, 201), Verdict::regressed);
  EXPECT_EQ(verdict_of_single_runs(40, "write", 10, 60), Verdict::near) << "5 for each wait";
  EXPECT_EQ(verdict_of_single_runs(40, "write", 10, 61), Verdict::regressed);
}

// A thread is late by one wait, and this test does not see the wait.
TEST(UnequalWaits, MakeSmallChangesOfTheSameCallsNearInTestsThatWaitAlike) {
  const auto verdict_of = [](const std::string& name, double after) {
    Suite suite;
    suite.add(name, {102}, {after});
    return add_waiting(suite, 32, "getpid", 10, 14).first();
  };
  EXPECT_EQ(verdict_of("getpid", 103), Verdict::near);
  EXPECT_EQ(verdict_of("getpid", 105), Verdict::regressed) << "more than 1 call and 1 %";
  EXPECT_EQ(verdict_of("write", 103), Verdict::regressed) << "other calls";

  Suite elsewhere;
  elsewhere.add("getpid", {102}, {103}, true, "other_test");
  EXPECT_EQ(add_waiting(elsewhere, 32, "getpid", 10, 14).first(), Verdict::regressed) << "another program";
}

// Each test opens one more file. In half of them the threads happened to wait less often, so waits do not explain it.
TEST(UnequalWaits, HideNothingThatGrewInMostTests) {
  Suite changed;
  for (int i = 0; i < 24; ++i) add_waiting(changed, i % 2 == 0 ? 28 : 33, "openat", 5, 6);
  EXPECT_EQ(changed.first(), Verdict::regressed);
  EXPECT_EQ(changed.unequal_waits, 0U);

  Suite busy;  // a busy machine: all tests wait more often
  for (int i = 0; i < 24; ++i) add_waiting(busy, 33, "read", 5, 6);
  EXPECT_EQ(busy.first(), Verdict::near);
  EXPECT_EQ(busy.unequal_waits, 24U);
}

TEST(UnequalWaits, HideNothingThatIsToBeToldExactly) {
  Tolerance exact;
  exact.rel = 0;
  Suite suite(exact);
  EXPECT_EQ(add_waiting(suite, 32, "read", 2, 4).first(), Verdict::regressed);
}

TEST(UnequalWaits, AreAWarningThatSaysWhatToDo) {
  EXPECT_EQ(
      warning_of_unequal_waits(2, "run them 5 times"),
      "2 tests wait for other threads or processes, more or less often in NEW than in OLD: their counts may differ "
      "by chance; run them 5 times");
  EXPECT_EQ(warning_of_unequal_waits(1, "x").substr(0, 30), "1 test waits for other threads");
}

}  // namespace
}  // namespace syscost::bench::stats
