// SPDX-License-Identifier: MIT
#include "stats/first_waits.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "judged_suite.h"

namespace syscost::bench::stats {
namespace {

using Counts = std::vector<std::pair<std::string, std::vector<double>>>;

std::vector<SyscallSummary> syscalls(const std::vector<double>& waits, const Counts& counts) {
  std::vector<SyscallSummary> calls{futex_calls(waits)};
  for (const auto& [name, numbers] : counts) calls.push_back(syscall(name, spread_of(numbers)));
  return calls;
}

/// What becomes of a test that waits 5 times in OLD and makes none of `calls`.
Verdict verdict_after(const Counts& calls, const std::vector<double>& waits = {9}) {
  return JudgedSuite().add_test(syscalls({5}, {}), syscalls(waits, calls), false).first();
}

const Counts kOneFile{{"openat", {1}}, {"read", {1}}, {"close", {1}}};

TEST(FirstWaits, AFileReadOnceIsChance) {
  EXPECT_EQ(verdict_after(kOneFile), Verdict::near);
  EXPECT_EQ(verdict_after({{"openat", {1}}}), Verdict::near);
  EXPECT_EQ(verdict_after({{"openat", {2}}, {"read", {2}}, {"close", {2}}}), Verdict::near);
}

TEST(FirstWaits, MoreThanThatIsNot) {
  EXPECT_EQ(verdict_after({{"openat", {3}}}), Verdict::regressed);
  EXPECT_EQ(verdict_after({{"openat", {1}}, {"read", {3}}, {"close", {1}}}), Verdict::regressed);
  EXPECT_EQ(verdict_after({{"openat", {1}}, {"write", {1}}, {"close", {1}}}), Verdict::regressed);
  EXPECT_EQ(verdict_after({{"read", {1}}}), Verdict::regressed) << "of no file that was opened";
}

TEST(FirstWaits, TestsThatWaitAsBeforeAreExact) {
  EXPECT_EQ(verdict_after(kOneFile, {5}), Verdict::regressed);
  JudgedSuite without;
  EXPECT_EQ(without
                .add_test({syscall("write", spread_of({5}))},
                          {syscall("write", spread_of({5})), syscall("openat", spread_of({1}))}, false)
                .first(),
            Verdict::regressed);
}

TEST(FirstWaits, ATestThatOpensManyFilesIsExact) {
  JudgedSuite suite;
  suite.add_test(syscalls({5}, {{"openat", {4}}}), syscalls({9}, {{"openat", {5}}}), false);
  EXPECT_EQ(suite.first(), Verdict::regressed);

  JudgedSuite few;
  few.add_test(syscalls({5}, {{"openat", {2}}}), syscalls({9}, {{"openat", {3}}}), false);
  EXPECT_EQ(few.first(), Verdict::near);
}

TEST(FirstWaits, OnceInAProgram) {
  JudgedSuite twice;
  for (int i = 0; i < 2; ++i) twice.add_test(syscalls({5}, {}), syscalls({9}, kOneFile), false);
  EXPECT_EQ(twice.first(), Verdict::regressed);

  JudgedSuite elsewhere;
  elsewhere.add_test(syscalls({5}, {}), syscalls({9}, kOneFile), false);
  elsewhere.add_test(syscalls({5}, {}), syscalls({9}, kOneFile), false, "other_test");
  EXPECT_EQ(elsewhere.first(), Verdict::near);
}

TEST(FirstWaits, RunsThatWaitedInOtherWaysSayNothing) {
  JudgedSuite suite;
  suite.add_test(syscalls({5, 9, 7}, {}), syscalls({8}, kOneFile), false);
  EXPECT_EQ(suite.first(), Verdict::regressed) << "three runs waited as often, and none of them read a file";

  JudgedSuite beyond;
  beyond.add_test(syscalls({5, 9, 7}, {}), syscalls({12}, kOneFile), false);
  EXPECT_EQ(beyond.first(), Verdict::near);
}

TEST(FirstWaits, AToleranceOfNothingIsExact) {
  Tolerance exact;
  exact.rel = 0;
  JudgedSuite suite(exact);
  suite.add_test(syscalls({5}, {}), syscalls({9}, kOneFile), false);
  EXPECT_EQ(suite.first(), Verdict::regressed);
}

}  // namespace
}  // namespace syscost::bench::stats
