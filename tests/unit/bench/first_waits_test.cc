// SPDX-License-Identifier: MIT
#include "stats/first_waits.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judged_suite.h"

namespace syscost::bench::stats {
namespace {

using Counts = std::vector<std::pair<std::string, std::vector<double>>>;

/// Calls that failed; they follow those of openat in `counts`.
const char* const kMissing = "openat ENOENT";

std::vector<SyscallSummary> syscalls(const std::vector<double>& waits, const Counts& counts) {
  std::vector<SyscallSummary> calls{futex_calls(waits)};
  for (const auto& [name, numbers] : counts) {
    if (name == kMissing) {
      (*calls.back().errnos)["ENOENT"] = *spread_of(numbers);
    } else {
      calls.push_back(syscall(name, spread_of(numbers)));
    }
  }
  return calls;
}

/// The verdict on a test that waits 5 times in OLD and makes none of `calls`.
Verdict verdict_after(const Counts& calls, const std::vector<double>& waits = {9}) {
  return JudgedSuite().add_test(syscalls({5, 5, 5}, {}), syscalls(waits, calls), false).first();
}

const Counts kOneFile{{"openat", {1}}, {"read", {1}}, {"close", {1}}};
const Counts kMissingFile{{"openat", {1}}, {kMissing, {1}}};

TEST(FirstWaits, AFileReadOnceIsChance) {
  EXPECT_EQ(verdict_after(kOneFile), Verdict::near);
  EXPECT_EQ(verdict_after(kMissingFile), Verdict::near);
  EXPECT_EQ(verdict_after({{"openat", {2}}, {"read", {2}}, {"close", {2}}}), Verdict::near);
  EXPECT_EQ(verdict_after({{"openat", {2}}, {kMissing, {1}}, {"read", {1}}, {"close", {1}}}), Verdict::near);
}

// A library that asks for a number reads its file by one call. A program reads to the end of a file.
TEST(FirstWaits, AFileReadInAnotherWayIsNot) {
  EXPECT_EQ(verdict_after({{"openat", {1}}, {"read", {2}}, {"close", {1}}}), Verdict::regressed) << "to its end";
  EXPECT_EQ(verdict_after({{"openat", {1}}}), Verdict::regressed) << "left open";
  EXPECT_EQ(verdict_after({{"openat", {1}}, {"read", {1}}}), Verdict::regressed) << "left open";
  EXPECT_EQ(verdict_after({{"openat", {1}}, {"close", {1}}}), Verdict::regressed) << "not read";
  EXPECT_EQ(verdict_after({{"openat", {2}}, {"read", {1}}, {"close", {1}}}), Verdict::regressed) << "one left open";
}

// seccomp sees no failures.
TEST(FirstWaits, AFileThatIsNotReadMayBeMissingWhereFailuresAreNotSeen) {
  const auto verdict_of_entries = [](const Counts& counts) {
    std::vector<SyscallSummary> before = syscalls({5, 5, 5}, {});
    std::vector<SyscallSummary> after = syscalls({9}, counts);
    for (std::vector<SyscallSummary>* calls : {&before, &after}) {
      for (SyscallSummary& one : *calls) one.entries = std::exchange(one.calls, std::nullopt);
    }
    return JudgedSuite().add_test(std::move(before), std::move(after), false).first();
  };
  EXPECT_EQ(verdict_of_entries({{"openat", {1}}}), Verdict::near);
  EXPECT_EQ(verdict_of_entries({{"openat", {2}}, {"read", {1}}, {"close", {1}}}), Verdict::near);
  EXPECT_EQ(verdict_of_entries({{"openat", {1}}, {"read", {2}}, {"close", {1}}}), Verdict::regressed);
}

TEST(FirstWaits, MoreThanThatIsNot) {
  EXPECT_EQ(verdict_after({{"openat", {3}}, {kMissing, {3}}}), Verdict::regressed);
  EXPECT_EQ(verdict_after({{"openat", {3}}, {"read", {3}}, {"close", {3}}}), Verdict::regressed);
  EXPECT_EQ(verdict_after({{"openat", {1}}, {"read", {1}}, {"write", {1}}, {"close", {1}}}), Verdict::regressed);
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

/// As many files, each read by one call.
Counts files(double count) {
  return {{"openat", {count}}, {"read", {count}}, {"close", {count}}};
}

TEST(FirstWaits, ATestThatOpensManyFilesIsExact) {
  const auto verdict_with_one_more = [](double count) {
    return JudgedSuite().add_test(syscalls({5, 5, 5}, files(count)), syscalls({9}, files(count + 1)), false).first();
  };
  EXPECT_EQ(verdict_with_one_more(2), Verdict::near);
  EXPECT_EQ(verdict_with_one_more(3), Verdict::regressed);
}

/// A test that waits first in NEW, to be judged with others.
JudgedSuite first_wait() {
  JudgedSuite suite;
  suite.add_test(syscalls({5, 5, 5}, {}), syscalls({9}, kOneFile), false);
  return suite;
}

TEST(FirstWaits, OnceInAProgram) {
  JudgedSuite twice = first_wait();
  twice.add_test(syscalls({5, 5, 5}, {}), syscalls({9}, kOneFile), false);
  EXPECT_EQ(twice.first(), Verdict::regressed);

  JudgedSuite elsewhere = first_wait();
  elsewhere.add_test(syscalls({5, 5, 5}, {}), syscalls({9}, kOneFile), false, "other_test");
  EXPECT_EQ(elsewhere.first(), Verdict::near);
}

// The program opens a file more. That one of its tests waited otherwise, too, is no excuse.
TEST(FirstWaits, AFileMoreInATestThatIsExactIsAChangeOfTheProgram) {
  JudgedSuite without_threads = first_wait();
  without_threads.add_test({syscall("openat", spread_of({0}))}, {syscall("openat", spread_of({1}))}, false);
  EXPECT_EQ(without_threads.first(), Verdict::regressed);

  JudgedSuite many_files = first_wait();
  many_files.add("openat", {10}, {11});
  EXPECT_EQ(many_files.first(), Verdict::regressed);
}

TEST(FirstWaits, ThatCameToAnotherTestLeavesTheFirst) {
  JudgedSuite came_and_went = first_wait();
  came_and_went.add_test(syscalls({5, 5, 5}, {}), syscalls({9}, kOneFile), false);
  came_and_went.add_test(syscalls({9, 9, 9}, kOneFile), syscalls({5}, {}), false);
  EXPECT_EQ(came_and_went.first(), Verdict::near);

  JudgedSuite saved = first_wait();
  saved.add_test(syscalls({5, 5, 5}, {}), syscalls({9}, kOneFile), false);
  saved.add_test(syscalls({5, 5, 5}, kOneFile), syscalls({5}, {}), false);
  EXPECT_EQ(saved.first(), Verdict::regressed) << "a test that waits as before opens a file less";
}

// One test opens the file in place of another. A third reads less for a reason of its own.
TEST(FirstWaits, WhatOnlyMovedIsPartOfTheFile) {
  JudgedSuite suite = first_wait();
  suite.add_test(syscalls({9, 9, 9}, kOneFile), syscalls({5}, {}), false);
  suite.add("read", {50}, {49});
  EXPECT_EQ(suite.first(), Verdict::near);
}

// Two values are read once each: one in OLD, and the other in NEW.
TEST(FirstWaits, OneFileInPlaceOfAnotherIsChance) {
  JudgedSuite suite;
  suite.add_test(syscalls({5, 5, 5}, kOneFile), syscalls({9}, kMissingFile), false);
  suite.add_test(syscalls({5, 5, 5}, kMissingFile), syscalls({9}, kOneFile), false, "other_test");
  EXPECT_EQ(suite.first(), Verdict::improved) << "it reads none";
  EXPECT_EQ(suite.rows.back().verdict, Verdict::improved) << "none is missing";
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
  suite.add_test(syscalls({5, 5, 5}, {}), syscalls({9}, kOneFile), false);
  EXPECT_EQ(suite.first(), Verdict::regressed);
}

}  // namespace
}  // namespace syscost::bench::stats
