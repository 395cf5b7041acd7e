// SPDX-License-Identifier: MIT
#include "stats/races.h"

#include <gtest/gtest.h>

#include <vector>

#include "windows.h"

namespace syscost::bench::stats {
namespace {

/// A test that waits `waits` times and makes these calls.
WindowSummary racing(const std::vector<double>& waits, std::vector<SyscallSummary> calls) {
  SyscallSummary futex = syscall("futex", spread_of(waits));
  futex.classes = "wait;volatile";
  futex.is_wait = true;
  if (waits.front() > 0) calls.push_back(futex);
  WindowSummary one = window(std::move(calls));
  one.kind = "test";
  one.n = waits.size();
  return one;
}

SyscallSummary call(const std::string& name, const std::vector<double>& counts) {
  return syscall(name, spread_of(counts));
}

Comparison compared(const WindowSummary& old_window, const WindowSummary& new_window, const Tolerance& tolerance = {}) {
  return compare_windows(&old_window, &new_window, CountPolicy(tolerance));
}

// A compaction more in the background.
TEST(Races, MakeCountsThatChangeTogetherNoRegressionOfOneRun) {
  const WindowSummary before = racing({30}, {call("write", {87}), call("openat", {107}), call("unlink", {38})});
  const WindowSummary after = racing({35}, {call("write", {92}), call("openat", {109}), call("unlink", {39})});
  const Comparison row = compared(before, after);
  EXPECT_EQ(row.verdict, Verdict::near);
  EXPECT_EQ(row.reason, "it waits for other threads or processes (futex): changes up to 33.3 % may be chance");
  const WindowSummary half_more = racing({35}, {call("write", {130}), call("openat", {109}), call("unlink", {39})});
  EXPECT_EQ(compared(before, half_more).verdict, Verdict::regressed);
}

TEST(Races, HideNothingWhereNothingWaits) {
  const WindowSummary before = racing({0}, {call("write", {87}), call("openat", {107}), call("unlink", {38})});
  const WindowSummary after = racing({0}, {call("write", {92}), call("openat", {109}), call("unlink", {39})});
  EXPECT_EQ(compared(before, after).verdict, Verdict::regressed);
}

TEST(Races, HideNoCallThatComesAlone) {
  const WindowSummary before = racing({30}, {call("write", {87}), call("openat", {50})});
  EXPECT_EQ(compared(before, racing({35}, {call("write", {87}), call("openat", {51})})).verdict, Verdict::regressed);
  // One of thousands does come alone where threads wait more or less often, unless a baseline knows better.
  EXPECT_EQ(compared(racing({30}, {call("write", {5965})}), racing({30}, {call("write", {5966})})).verdict,
            Verdict::regressed);
  EXPECT_EQ(compared(racing({30}, {call("write", {5965})}), racing({31}, {call("write", {5966})})).verdict,
            Verdict::near);
  EXPECT_EQ(compared(racing({30, 30, 31}, {call("write", {5965, 5965, 5965})}), racing({32}, {call("write", {5966})}))
                .verdict,
            Verdict::regressed);
}

TEST(Races, HideNoNewSyscallAndNoFewCalls) {
  const WindowSummary before = racing({30}, {call("write", {87}), call("openat", {107}), call("unlink", {38})});
  EXPECT_EQ(compared(before, racing({35}, {call("write", {92}), call("openat", {109}), call("unlink", {39}),
                                           call("fsync", {1})}))
                .verdict,
            Verdict::regressed);
  const WindowSummary few =
      racing({30}, {call("write", {87}), call("openat", {107}), call("unlink", {38}), call("mkdir", {4})});
  const WindowSummary one_more =
      racing({35}, {call("write", {92}), call("openat", {109}), call("unlink", {39}), call("mkdir", {5})});
  EXPECT_EQ(compared(few, one_more).verdict, Verdict::regressed);
}

// Runs on a quiet machine agree, and say little about those on a busy one.
TEST(Races, AreJudgedAlikeHoweverOftenOldRan) {
  const WindowSummary before = racing(
      {30, 31, 30}, {call("write", {1000, 1010, 1005}), call("openat", {100, 100, 100}), call("unlink", {50, 51, 50})});
  const auto after = [](double write) {
    return racing({35}, {call("write", {write}), call("openat", {102}), call("unlink", {52})});
  };
  EXPECT_EQ(compared(before, after(1330)).verdict, Verdict::near);
  EXPECT_EQ(compared(before, after(1350)).verdict, Verdict::regressed);
}

TEST(Races, CountWhereNoToleranceIsAskedFor) {
  const WindowSummary before = racing({30}, {call("write", {87}), call("openat", {107}), call("unlink", {38})});
  const WindowSummary after = racing({35}, {call("write", {92}), call("openat", {109}), call("unlink", {39})});
  EXPECT_EQ(compared(before, after, {.rel = 0}).verdict, Verdict::regressed);
}

SyscallSummary failing(const std::string& name, double calls, const std::string& errno_name, double errors) {
  SyscallSummary one = call(name, {calls});
  one.errors = spread_of({errors});
  if (errors > 0) (*one.errnos)[errno_name] = *spread_of({errors});
  return one;
}

// A server that looks for the next request without blocking.
TEST(Races, MakeCallsThatComeTooEarlyNoRegression) {
  const WindowSummary before = racing({30}, {failing("read", 38, "EAGAIN", 1)});
  const Comparison row = compared(before, racing({30}, {failing("read", 40, "EAGAIN", 3)}));
  EXPECT_EQ(row.verdict, Verdict::near);
  EXPECT_EQ(row.reason, "calls that came too early (EAGAIN) or were interrupted (EINTR)");
  EXPECT_EQ(compared(racing({30}, {failing("accept", 1, "EINTR", 0)}), racing({30}, {failing("accept", 2, "EINTR", 1)}))
                .verdict,
            Verdict::near);
  // One more that did not fail so, another errno, many, and a test that waits for nothing.
  EXPECT_EQ(compared(before, racing({30}, {failing("read", 41, "EAGAIN", 3)})).verdict, Verdict::regressed);
  EXPECT_EQ(compared(before, racing({30}, {failing("read", 38, "EPIPE", 1)})).verdict, Verdict::regressed);
  EXPECT_EQ(compared(before, racing({30}, {failing("read", 60, "EAGAIN", 23)})).verdict, Verdict::regressed);
  EXPECT_EQ(compared(racing({0}, {failing("read", 38, "EAGAIN", 1)}), racing({0}, {failing("read", 40, "EAGAIN", 3)}))
                .verdict,
            Verdict::regressed);
}

// glibc lets a new thread's signals in when it first runs, and exit ends it.
TEST(Races, MakeWhatAThreadCallsWhenItBeginsAndEndsNoRegression) {
  const auto threads = [](double started, double masks, double ends) {
    return racing({30}, {call("clone3", {started}), call("rt_sigprocmask", {masks}), call("exit", {ends})});
  };
  const Comparison row = compared(threads(2, 6, 0), threads(2, 7, 2));
  EXPECT_EQ(row.verdict, Verdict::near);
  EXPECT_EQ(row.reason, "a thread that it starts may run after the test ended");
  EXPECT_EQ(compared(threads(2, 6, 0), threads(2, 9, 0)).verdict, Verdict::regressed);
  EXPECT_EQ(compared(threads(2, 6, 2), threads(3, 9, 3)).verdict, Verdict::regressed) << "one more thread";
}

TEST(Races, LetLargeCountsThatChangeAloneDifferByOnePercent) {
  const auto writes = [](double waits, double count) { return racing({waits}, {call("write", {count})}); };
  EXPECT_EQ(compared(writes(30, 1900), writes(31, 1919)).verdict, Verdict::near);
  EXPECT_EQ(compared(writes(30, 1900), writes(31, 1920)).verdict, Verdict::regressed);
  EXPECT_EQ(compared(writes(30, 199), writes(31, 200)).verdict, Verdict::regressed);
}

// A tolerance in calls is no wish for exactness.
TEST(Races, AreAllowedForBesideAToleranceOfCalls) {
  const auto verdict = [](const std::string& rule) {
    CountPolicy policy;
    EXPECT_EQ(policy.add_tolerance(rule), std::nullopt);
    const WindowSummary before = racing({30}, {call("write", {1900})});
    const WindowSummary after = racing({31}, {call("write", {1915})});
    return compare_windows(&before, &after, policy).verdict;
  };
  EXPECT_EQ(verdict("write=3"), Verdict::near);
  EXPECT_EQ(verdict("write=0%"), Verdict::regressed);
}

}  // namespace
}  // namespace syscost::bench::stats
