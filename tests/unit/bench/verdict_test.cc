// SPDX-License-Identifier: MIT
#include "judge/verdict.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/row_times.h"
#include "windows.h"

namespace syscost::bench::judge {
namespace {

TEST(Spread, HoldsMedianAndRange) {
  const auto spread = stats::spread_of({3, 1, 3, 2});
  EXPECT_EQ(spread->min, 1);
  EXPECT_EQ(spread->max, 3);
  EXPECT_EQ(spread->median, 2.5);
  EXPECT_FALSE(spread->is_exact());
  EXPECT_FALSE(stats::spread_of({}).has_value());
}

TEST(CompareCounts, SeesEveryExactChange) {
  EXPECT_EQ(compare_counts(exact(1000), exact(1001), {}), Change::grew);
  EXPECT_EQ(compare_counts(exact(1000), exact(999), {}), Change::shrank);
  EXPECT_EQ(compare_counts(exact(1000), exact(1000), {}), Change::none);
}

TEST(CompareCounts, ComparesRangesWhereRepetitionsDiffer) {
  const stats::Spread varies = *stats::spread_of({10, 12});
  EXPECT_EQ(compare_counts(varies, *stats::spread_of({12, 15}), {}), Change::near);
  EXPECT_EQ(compare_counts(varies, *stats::spread_of({13, 15}), {}), Change::grew);
  EXPECT_EQ(compare_counts(varies, *stats::spread_of({5, 8}), {}), Change::shrank);
  EXPECT_EQ(compare_counts(varies, *stats::spread_of({14, 15}), {1, 0.5}), Change::near);  // the larger tolerance holds
}

TEST(Verdict, IsIncomparableUnderDifferentFilters) {
  stats::WindowSummary everything = window({syscall("write", exact(2))});
  everything.filters = {""};
  stats::WindowSummary some = everything;
  some.filters = {"%network"};
  stats::WindowSummary more = window({syscall("write", exact(3))});
  more.filters = {"%network"};
  stats::WindowSummary mixed = some;
  mixed.filters = {"%network", "write"};
  EXPECT_EQ(verdict(everything, everything), Verdict::same);
  EXPECT_EQ(verdict(everything, some), Verdict::incomparable);
  EXPECT_EQ(verdict(some, everything), Verdict::incomparable);
  EXPECT_EQ(verdict(mixed, mixed), Verdict::incomparable);
  EXPECT_EQ(verdict(some, more), Verdict::regressed) << "the same filter on both sides";
}

// A call that only some repetitions of one side made may be chance. The other side may not have met that chance.
TEST(CompareCounts, CallsWhatOnlySomeRepetitionsShowNoGrowth) {
  EXPECT_EQ(compare_counts(exact(0), *stats::spread_of({0, 0, 1}), {}), Change::near);
  EXPECT_EQ(compare_counts(*stats::spread_of({0, 1}), *stats::spread_of({1, 1}), {}), Change::near);
  EXPECT_EQ(compare_counts(*stats::spread_of({5, 5, 5}), *stats::spread_of({5, 6, 7}), {}), Change::near);
}

TEST(Verdict, IsInDoubtWhereRepetitionsDiffer) {
  const auto reads = [](const std::vector<double>& counts) {
    return window({syscall("read", *stats::spread_of(counts))});
  };
  EXPECT_EQ(verdict(reads({5, 5, 5}), reads({6, 7, 8})), Verdict::in_doubt);
  EXPECT_EQ(verdict(reads({5, 5, 5}), reads({5, 7, 8})), Verdict::near);
  EXPECT_EQ(verdict(reads({5, 5, 5}), reads({6, 6, 6})), Verdict::regressed);
}

TEST(CompareCounts, ToleratesInExactCountsWhatItIsToldTo) {
  EXPECT_EQ(compare_counts(exact(100), exact(105), {.abs = 5}), Change::near);
  EXPECT_EQ(compare_counts(exact(100), exact(106), {.abs = 5}), Change::grew);
  EXPECT_EQ(compare_counts(exact(100), exact(110), {.rel = 0.1}), Change::near);
  EXPECT_EQ(compare_counts(exact(0), exact(2), {.abs = 1, .rel = 0.1}), Change::grew);
}

TEST(CompareCounts, CallsTheSameRangeNoChange) {
  EXPECT_EQ(compare_counts(*stats::spread_of({10, 12}), *stats::spread_of({12, 10}), {}), Change::none);
}

/// A loop's `write`, so many in passes of so many calls; each pair is a repetition.
stats::WindowSummary per_call(const std::vector<std::pair<double, double>>& writes_in_passes) {
  std::vector<double> counts;
  std::vector<double> passes;
  for (const auto& [writes, calls] : writes_in_passes) {
    counts.push_back(writes / calls);
    passes.push_back(calls);
  }
  stats::WindowSummary one = window({syscall("write", *stats::spread_of(counts))});
  one.loop = "log";
  one.is_per_iteration = true;
  one.calls = *stats::spread_of(counts);
  one.counted_passes = stats::spread_of(passes);
  return one;
}

// One write in each call and one more every 1000th, which falls into a pass more often or less.
TEST(Verdict, ASyscallMoreInEachCallIsFoundWherePassesDiffer) {
  const stats::WindowSummary once = per_call({{1050 + 1, 1050}, {1050 + 2, 1050}});
  const stats::WindowSummary twice = per_call({{2 * 1050 + 1, 1050}, {2 * 1050 + 2, 1050}});
  EXPECT_EQ(verdict(once, twice), Verdict::regressed);
  EXPECT_EQ(verdict(twice, once), Verdict::improved);
}

TEST(Verdict, ThePassesLengthAloneIsNoChange) {
  const stats::WindowSummary longer = per_call({{1050 + 1, 1050}, {1050 + 1, 1050}});
  const stats::WindowSummary shorter = per_call({{1000 + 1, 1000}, {1000 + 1, 1000}});
  EXPECT_EQ(verdict(longer, shorter), Verdict::near);
  EXPECT_EQ(verdict(shorter, longer), Verdict::near);
  // If all passes have one length, one more call is a change.
  EXPECT_EQ(verdict(shorter, per_call({{1000 + 2, 1000}, {1000 + 2, 1000}})), Verdict::regressed);
}

/// A benchmark's `openat`: `count` in a pass of so many iterations, `per_run` of them whatever its length.
stats::WindowSummary opens(double count, double per_run, double iterations) {
  stats::SyscallSummary openat = syscall("openat", exact((count - per_run) / iterations));
  openat.spread.emplace();
  openat.spread->calls = exact(count / iterations);
  openat.per_run_calls = openat.per_run_errors = exact(per_run);
  stats::WindowSummary one = window({openat});
  one.is_per_iteration = true;
  one.counted_passes = exact(iterations);
  return one;
}

TEST(Verdict, PerRunCallsAreTheSameWhateverThePassesLength) {
  EXPECT_EQ(verdict(opens(3, 3, 1000), opens(3, 3, 100)), Verdict::same);
  EXPECT_EQ(verdict(opens(3, 3, 100), opens(3, 3, 1000)), Verdict::same);
  EXPECT_EQ(verdict(opens(1003, 3, 1000), opens(103, 3, 100)), Verdict::same);
}

TEST(Verdict, APerRunCallMoreIsARegressionOfItsOwn) {
  for (const double iterations : {1000, 100}) {
    const stats::WindowSummary before = opens(3, 3, 1000);
    const stats::WindowSummary after = opens(4, 4, iterations);
    const Comparison row = compare_windows(&before, &after, {});
    EXPECT_EQ(row.verdict, Verdict::regressed);
    ASSERT_EQ(row.deltas.size(), 1U);
    EXPECT_TRUE(row.deltas[0].is_per_run);
    EXPECT_EQ(row.deltas[0].new_count.median, 4);
    EXPECT_EQ(verdict(after, before), Verdict::improved);
  }
}

TEST(Verdict, ACallOfAnIterationIsNoPerRunOne) {
  const stats::WindowSummary before = opens(1, 1, 1000);
  const stats::WindowSummary after = opens(100, 0, 100);
  const Comparison row = compare_windows(&before, &after, {});
  EXPECT_EQ(row.verdict, Verdict::regressed);
  ASSERT_EQ(row.deltas.size(), 2U) << "one more an iteration, one fewer per run";
}

TEST(Verdict, PassesOfSeveralLengthsHaveNoVerdictIfTheirPerRunCallsAreUnknown) {
  auto unknown = [](double count, double iterations) {
    stats::WindowSummary one = opens(count, 0, iterations);
    one.syscalls[0].spread.reset();
    one.syscalls[0].per_run_calls = one.syscalls[0].per_run_errors = std::nullopt;
    return one;
  };
  EXPECT_EQ(verdict(unknown(3, 1000), unknown(3, 100)), Verdict::inconclusive);
  EXPECT_EQ(verdict(unknown(1000, 1000), unknown(100, 100)), Verdict::inconclusive);
  EXPECT_EQ(verdict(opens(3, 3, 1000), unknown(3, 100)), Verdict::inconclusive);
  // Passes of one length are compared as they are.
  EXPECT_EQ(verdict(opens(3, 3, 1000), unknown(3, 1000)), Verdict::same);
  EXPECT_EQ(verdict(unknown(3, 1000), unknown(4, 1000)), Verdict::regressed);
  // Nor does a syscall that is not gated keep the others from being judged.
  stats::WindowSummary before = unknown(3, 1000);
  stats::WindowSummary after = unknown(3, 100);
  before.syscalls[0].classes = after.syscalls[0].classes = "volatile";
  before.has_other_threads = after.has_other_threads = true;
  EXPECT_EQ(verdict(before, after), Verdict::same);
}

TEST(Verdict, ARareCallThatOldHadNoTimeToSeeIsNoRegression) {
  // Two repetitions of 100 iterations might well miss what comes once in 1000.
  EXPECT_EQ(verdict(opens(0, 0, 100), opens(1, 0, 1000)), Verdict::near);
  EXPECT_EQ(verdict(opens(0, 0, 1000), opens(1, 0, 100)), Verdict::regressed);
  EXPECT_EQ(verdict(opens(0, 0, 100), opens(1, 1, 1000)), Verdict::regressed) << "a per-run one it would have seen";
}

TEST(Verdict, IsRegressedWhenOneSyscallGrowsThoughTheSumShrinks) {
  const Comparison row = [] {
    static const stats::WindowSummary kOld = window({syscall("getuid", exact(4)), syscall("openat", exact(1))});
    static const stats::WindowSummary kNew = window({syscall("getuid", exact(1)), syscall("openat", exact(2))});
    return compare_windows(&kOld, &kNew, {});
  }();
  EXPECT_EQ(row.verdict, Verdict::regressed);
  ASSERT_EQ(row.deltas.size(), 2U);
  EXPECT_EQ(row.deltas[0].syscall, "openat");
}

TEST(Verdict, CountsASyscallThatAppearsFromZero) {
  EXPECT_EQ(verdict(window({}), window({syscall("fsync", exact(1))})), Verdict::regressed);
  EXPECT_EQ(verdict(window({syscall("getuid", exact(1))}), window({})), Verdict::improved);
}

TEST(Verdict, ReportsButDoesNotGateVolatileSyscalls) {
  stats::SyscallSummary futex = syscall("futex", exact(9));
  futex.classes = "volatile";
  const stats::WindowSummary old_window = window({});
  const stats::WindowSummary new_window = window({futex});
  const Comparison row = compare_windows(&old_window, &new_window, {});
  EXPECT_EQ(row.verdict, Verdict::same);
  EXPECT_EQ(row.deltas.size(), 1U);
  EXPECT_FALSE(row.has_changes()) << "such a row is printed when it is asked for";
}

TEST(Verdict, GatesAnErrnoThatIsNew) {
  stats::SyscallSummary fails = syscall("openat", exact(4));
  fails.errnos->emplace("EACCES", exact(1));
  const stats::WindowSummary old_window = window({syscall("openat", exact(4))});
  const stats::WindowSummary new_window = window({fails});
  const Comparison row = compare_windows(&old_window, &new_window, {});
  EXPECT_EQ(row.verdict, Verdict::regressed);
  ASSERT_EQ(row.deltas.size(), 1U);
  EXPECT_TRUE(row.deltas[0].is_new_errno);
}

TEST(Verdict, ShowsAnErrnoThatIsNewInOneRepetitionOnly) {
  stats::SyscallSummary fails = syscall("openat", exact(4));
  fails.errnos->emplace("EACCES", *stats::spread_of({0, 0, 1}));
  const stats::WindowSummary old_window = window({syscall("openat", exact(4))});
  const stats::WindowSummary new_window = window({fails});
  const Comparison row = compare_windows(&old_window, &new_window, {});
  EXPECT_EQ(row.verdict, Verdict::near);
  ASSERT_EQ(row.deltas.size(), 1U);
  EXPECT_TRUE(row.deltas[0].is_new_errno);
}

TEST(Verdict, ShowsCountsThatVaryDifferently) {
  const stats::WindowSummary old_window = window({syscall("read", *stats::spread_of({10, 11}))});
  const stats::WindowSummary new_window = window({syscall("read", *stats::spread_of({11, 12}))});
  const Comparison row = compare_windows(&old_window, &new_window, {});
  EXPECT_EQ(row.verdict, Verdict::near);
  ASSERT_EQ(row.deltas.size(), 1U);
  EXPECT_EQ(row.deltas[0].change, Change::near);
  EXPECT_TRUE(row.has_changes());
}

TEST(Verdict, DoesNotShowVolatileCountsThatVaryDifferently) {
  stats::SyscallSummary before = syscall("futex", *stats::spread_of({10, 11}));
  stats::SyscallSummary after = syscall("futex", *stats::spread_of({11, 12}));
  before.classes = after.classes = "volatile";
  const stats::WindowSummary old_window = window({before});
  const stats::WindowSummary new_window = window({after});
  EXPECT_FALSE(compare_windows(&old_window, &new_window, {}).has_changes());
}

TEST(Verdict, IsNeverSameWhenEventsCameLate) {
  stats::WindowSummary late = window({});
  late.late = 1;
  EXPECT_EQ(verdict(window({}), late), Verdict::inconclusive);
  EXPECT_EQ(verdict(late, window({})), Verdict::inconclusive);
}

// Two runs of seccomp, of which only one makes a call: neither of them measured which calls fail.
TEST(Verdict, NamesFailuresThatOneSideMeasuredOnlyIfBothMakeTheCall) {
  stats::SyscallSummary unknown = syscall("write", exact(1));
  unknown.errnos.reset();
  const stats::WindowSummary without = window({});
  const stats::WindowSummary not_measured = window({unknown});
  const stats::WindowSummary measured = window({syscall("write", exact(1))});
  EXPECT_FALSE(compare_windows(&without, &not_measured, {}).lacks_errnos_of_new);
  EXPECT_FALSE(compare_windows(&not_measured, &without, {}).lacks_errnos_of_old);
  EXPECT_TRUE(compare_windows(&measured, &not_measured, {}).lacks_errnos_of_new);
  EXPECT_TRUE(compare_windows(&not_measured, &measured, {}).lacks_errnos_of_old);
}

TEST(Verdict, SaysThatRepetitionsWereNotCounted) {
  stats::WindowSummary uncounted = window({});
  uncounted.calls.reset();
  uncounted.uncounted = 1;
  const stats::WindowSummary old_window = window({});
  const Comparison row = compare_windows(&old_window, &uncounted, {});
  EXPECT_EQ(row.verdict, Verdict::incomparable);
  EXPECT_EQ(row.reason, "1 of 2 repetitions of NEW were not counted");
}

TEST(Verdict, IsNeverSameWhenEventsWereLost) {
  stats::WindowSummary lossy = window({});
  lossy.lost = 1;
  EXPECT_EQ(verdict(window({}), lossy), Verdict::inconclusive);
  EXPECT_EQ(verdict(lossy, window({})), Verdict::inconclusive);
}

/// Three of ten writes.
stats::WindowSummary faulted() {
  stats::SyscallSummary writes = syscall("write", exact(10));
  writes.altered = exact(3);
  stats::WindowSummary one = window({writes});
  one.altered = 6;  // over both repetitions
  one.times_ns = {1000, 1000};
  return one;
}

TEST(Verdict, IsInconclusiveIfFaultsChangedCallsOnOneSideOnly) {
  stats::WindowSummary plain = faulted();
  plain.altered = 0;
  const stats::WindowSummary with = faulted();
  for (const auto& injected :
       {std::optional<std::uint64_t>(0), std::optional<std::uint64_t>()}) {  // none, or not known
    plain.altered = injected;
    Comparison row = compare_windows(&plain, &with, {});
    EXPECT_EQ(row.verdict, Verdict::inconclusive);
    EXPECT_EQ(row.reason, "faults changed 6 calls in NEW (write)");
    EXPECT_TRUE(row.has_fault);
    EXPECT_EQ(compare_windows(&with, &plain, {}).reason, "faults changed 6 calls in OLD (write)");
    std::vector<Comparison> rows = {row};
    judge_row_times(rows, {}, {});
    EXPECT_FALSE(rows[0].time.has_value());
  }
}

TEST(Verdict, IsThatOfTheCountsIfFaultsChangedCallsOnBothSides) {
  const stats::WindowSummary one = faulted();
  EXPECT_EQ(compare_windows(&one, &one, {}).verdict, Verdict::same);
  stats::WindowSummary other = faulted();
  other.altered_by = "write:EIO:2+";
  const Comparison row = compare_windows(&one, &other, {});
  EXPECT_EQ(row.verdict, Verdict::inconclusive);
  EXPECT_EQ(row.reason, "faults changed 6 calls in OLD (write), faults changed 6 calls in NEW (write)");
  stats::WindowSummary more = faulted();
  more.syscalls[0].calls = exact(11);
  EXPECT_EQ(compare_windows(&one, &more, {}).verdict, Verdict::regressed);
}

TEST(Verdict, NamesTheFaultsOfATestThatFailed) {
  const stats::WindowSummary plain = window({});
  stats::WindowSummary failed = faulted();
  failed.outcomes = {{"failed", 2}};
  const Comparison row = compare_windows(&plain, &failed, {});
  EXPECT_EQ(row.verdict, Verdict::errored);
  EXPECT_EQ(row.reason, "failed in NEW; faults changed 6 calls in NEW (write)");
}

TEST(Verdict, IsErroredWhenTheTestFailedOnOneSide) {
  stats::WindowSummary failed = window({});
  failed.outcomes = {{"passed", 1}, {"failed", 1}};
  EXPECT_EQ(verdict(window({}), failed), Verdict::errored);
}

TEST(Verdict, TreatsATestSkippedOnBothSidesAsSame) {
  stats::WindowSummary skipped = window({});
  skipped.outcomes = {{"skipped", 2}};
  EXPECT_EQ(verdict(skipped, skipped), Verdict::same);
  EXPECT_EQ(verdict(window({}), skipped), Verdict::errored);
}

TEST(Verdict, IsIncomparableWithoutACommonCount) {
  stats::SyscallSummary entries_only = syscall("write", std::nullopt);
  entries_only.entries = exact(2);
  stats::WindowSummary new_window = window({entries_only});
  new_window.calls.reset();
  new_window.entries = exact(2);
  EXPECT_EQ(verdict(window({syscall("write", exact(2))}), new_window), Verdict::incomparable);
}

TEST(Verdict, IsIncomparableWhenOnlyOneSideCountsIterations) {
  stats::WindowSummary per_iteration = window({});
  per_iteration.is_per_iteration = true;
  EXPECT_EQ(verdict(window({}), per_iteration), Verdict::incomparable);
}

TEST(KernelSplit, AddsUpToTheWholeChange) {
  auto timed = [](double calls, double total_ns) {
    stats::SyscallSummary one = syscall("write", exact(calls));
    one.latency_count = exact(calls);
    one.kernel_ns = exact(total_ns);
    return one;
  };
  const stats::WindowSummary old_window = window({timed(10, 1000)});
  const stats::WindowSummary new_window = window({timed(15, 3000)});
  const Comparison row = compare_windows(&old_window, &new_window, {});
  const std::optional<KernelSplit> split = split_kernel_time(row);
  ASSERT_TRUE(split.has_value());
  EXPECT_DOUBLE_EQ(split->more_calls_ns, 500);
  EXPECT_DOUBLE_EQ(split->slower_calls_ns, 1500);
}

}  // namespace
}  // namespace syscost::bench::judge
