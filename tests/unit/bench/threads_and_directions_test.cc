// SPDX-License-Identifier: MIT
//
// The facts that make a difference count: whether one thread made the calls of the test, and what the calls that
// changed are for.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "judge/verdict.h"
#include "stats/summaries.h"
#include "windows.h"

namespace syscost::bench::judge {
namespace {

/// A test in which other threads made calls, too, or none did.
stats::WindowSummary with_others(bool has_other_threads, std::vector<stats::SyscallSummary> calls) {
  stats::WindowSummary one = window(std::move(calls));
  one.has_other_threads = has_other_threads;
  return one;
}

TEST(Threads, OneIsExact) {
  const auto reads = [](bool others, double count) { return with_others(others, {syscall("read", exact(count))}); };
  EXPECT_EQ(verdict(reads(false, 20), reads(false, 21)), Verdict::regressed);
  EXPECT_EQ(verdict(reads(false, 20), reads(false, 20)), Verdict::same);
  EXPECT_EQ(verdict(reads(false, 20), reads(false, 19)), Verdict::improved);
}

TEST(Threads, SeveralLeaveADifferenceInDoubt) {
  const auto reads = [](bool others, double count) { return with_others(others, {syscall("read", exact(count))}); };
  for (const double now : {19, 21, 2000}) {
    EXPECT_EQ(verdict(reads(true, 20), reads(true, now)), Verdict::in_doubt) << now;
    EXPECT_EQ(verdict(reads(false, 20), reads(true, now)), Verdict::in_doubt) << now;
    EXPECT_EQ(verdict(reads(true, 20), reads(false, now)), Verdict::in_doubt) << now;
  }
  EXPECT_EQ(verdict(reads(true, 20), reads(true, 20)), Verdict::same);
}

// Files of before 0.2 do not know threads.
TEST(Threads, AreUnknownWhereATestMayWaitForOthers) {
  stats::SyscallSummary futex = syscall("futex", exact(5));
  futex.classes = "wait;volatile";
  futex.is_wait = true;
  const auto reads = [&](double count) { return window({syscall("read", exact(count)), futex}); };
  EXPECT_EQ(verdict(reads(20), reads(21)), Verdict::in_doubt);
  EXPECT_EQ(verdict(window({syscall("read", exact(20))}), window({syscall("read", exact(21))})), Verdict::regressed);
}

TEST(Threads, OneMakesItsCallsForMemoryExactly) {
  const auto maps = [](bool others, double count) {
    stats::SyscallSummary mmap = syscall("mmap", exact(count));
    mmap.classes = "memory;volatile";
    return with_others(others, {mmap});
  };
  EXPECT_EQ(verdict(maps(false, 3), maps(false, 4)), Verdict::regressed);
  EXPECT_EQ(verdict(maps(true, 3), maps(true, 4)), Verdict::same);
}

// leveldb: one brk more, in a test of one thread, after tests with several.
TEST(Threads, OfOtherTestsLeaveTheHeapAsChanceHasIt) {
  const auto calls = [](double brks, double reads) {
    stats::SyscallSummary brk = syscall("brk", exact(brks));
    brk.classes = "memory;volatile";
    std::vector<stats::WindowSummary> windows = {with_others(true, {}),
                                                 with_others(false, {brk, syscall("read", exact(reads))})};
    stats::note_threaded_programs(windows);
    return windows[1];
  };
  EXPECT_EQ(verdict(calls(3, 1), calls(4, 1)), Verdict::in_doubt);
  EXPECT_EQ(verdict(calls(3, 1), calls(3, 2)), Verdict::regressed);
}

// glog, abseil: the memory map of the process is one line longer, and takes one read more.
TEST(KernelFiles, LeaveReadsInDoubt) {
  const auto calls = [](bool of_kernel, double opens, double reads, double writes) {
    stats::WindowSummary one = with_others(
        false, {syscall("openat", exact(opens)), syscall("pread64", exact(reads)), syscall("write", exact(writes))});
    one.opens_kernel_files = of_kernel;
    return one;
  };
  EXPECT_EQ(verdict(calls(false, 1, 10, 1), calls(false, 1, 11, 1)), Verdict::regressed);
  for (const double now : {9, 11}) {
    EXPECT_EQ(verdict(calls(true, 1, 10, 1), calls(true, 1, now, 1)), Verdict::in_doubt) << now;
    EXPECT_EQ(verdict(calls(false, 1, 10, 1), calls(true, 1, now, 1)), Verdict::in_doubt) << now;
  }
  EXPECT_EQ(verdict(calls(true, 1, 10, 1), calls(true, 1, 10, 1)), Verdict::same);
  EXPECT_EQ(verdict(calls(true, 1, 10, 1), calls(true, 2, 11, 1)), Verdict::regressed);
  EXPECT_EQ(verdict(calls(true, 1, 10, 1), calls(true, 1, 10, 2)), Verdict::regressed);
  const stats::WindowSummary before = calls(true, 1, 10, 1);
  const stats::WindowSummary after = calls(true, 1, 11, 1);
  std::vector<Comparison> rows = {compare_windows(&before, &after, {})};
  decide_doubts(rows);
  EXPECT_NE(rows[0].reason.find("it reads files of /proc or /sys, which the kernel writes anew each time"),
            std::string::npos)
      << rows[0].reason;
}

// glog: libunwind validates the addresses of a stack, which begins elsewhere in each process.
TEST(MappedAddresses, LeaveTheCallsThatAskForThemInDoubt) {
  const auto calls = [](double mincores, double writes, double closes) {
    std::vector<stats::SyscallSummary> all = {syscall("write", exact(writes)), syscall("close", exact(closes))};
    if (mincores > 0) all.push_back(syscall("mincore", exact(mincores)));
    return with_others(false, std::move(all));
  };
  EXPECT_EQ(verdict(calls(3, 3, 1), calls(4, 4, 1)), Verdict::in_doubt);
  EXPECT_EQ(verdict(calls(0, 3, 1), calls(0, 4, 1)), Verdict::regressed);
  EXPECT_EQ(verdict(calls(0, 3, 1), calls(3, 3000, 1)), Verdict::regressed) << "only one side asks";
  EXPECT_EQ(verdict(calls(3, 3, 1), calls(3, 3, 1)), Verdict::same);
}

// c-ares: it draws until the number of a query is a free one.
TEST(RandomNumbers, LeaveTheirOwnCallsInDoubt) {
  const auto calls = [](double randoms, double reads) {
    std::vector<stats::SyscallSummary> all = {syscall("read", exact(reads))};
    if (randoms > 0) all.push_back(syscall("getrandom", exact(randoms)));
    return with_others(false, std::move(all));
  };
  EXPECT_EQ(verdict(calls(0, 3), calls(1, 3)), Verdict::regressed);
  EXPECT_EQ(verdict(calls(1, 3), calls(2, 3)), Verdict::in_doubt);
  EXPECT_EQ(verdict(calls(1, 3), calls(1, 4)), Verdict::regressed);
}

TEST(Threads, OfOneAreFailuresThatAreTooEarlyNoChange) {
  const auto reads = [](double calls, double too_early) {
    stats::SyscallSummary read = syscall("read", exact(calls));
    read.timely = exact(calls - too_early);
    if (too_early > 0) read.errnos->emplace("EAGAIN", exact(too_early));
    return with_others(false, {read});
  };
  EXPECT_EQ(verdict(reads(20, 0), reads(25, 5)), Verdict::same);
  EXPECT_EQ(verdict(reads(20, 0), reads(26, 5)), Verdict::regressed);
}

TEST(Directions, AreThoseOfFamilies) {
  const auto calls = [](double writes, double writevs, double fsyncs) {
    return window(
        {syscall("write", exact(writes)), syscall("writev", exact(writevs)), syscall("fsync", exact(fsyncs))});
  };
  EXPECT_EQ(verdict(calls(300, 0, 1), calls(0, 1, 1)), Verdict::exchanged);
  const stats::WindowSummary before = calls(3, 0, 4);
  const stats::WindowSummary after = calls(3, 0, 0);
  const Comparison unsynced = compare_windows(&before, &after, {});
  EXPECT_EQ(unsynced.verdict, Verdict::regressed);
  EXPECT_EQ(unsynced.reason, "fewer syncs: 4 -> 0");
  EXPECT_EQ(verdict(calls(3, 0, 1), calls(3, 1, 1)), Verdict::regressed);
}

TEST(Directions, SayThatMoreStaysOpen) {
  const auto calls = [](double closes) {
    return window({syscall("openat", exact(16)), syscall("close", exact(closes))});
  };
  stats::WindowSummary before = calls(16);
  stats::WindowSummary after = calls(8);
  const Comparison row = compare_windows(&before, &after, {});
  EXPECT_EQ(row.verdict, Verdict::in_doubt);
  EXPECT_EQ(row.reason, "8 more stay open: close 16 -> 8; a leak? --syscost_leaks on both sides tells");
  before.descriptors_left = after.descriptors_left = exact(0);
  EXPECT_EQ(verdict(before, after), Verdict::improved) << "who closed them is not known, but they are closed";
  after.descriptors_left = exact(8);
  EXPECT_EQ(verdict(before, after), Verdict::regressed);
  after.has_other_threads = true;
  EXPECT_EQ(verdict(before, after), Verdict::in_doubt) << "another thread may hold them";
}

}  // namespace
}  // namespace syscost::bench::judge
