// SPDX-License-Identifier: MIT
//
// Rules that need the counts of a CSV alone: each on data where it must fire, and on data where it must not.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "csv_text.h"
#include "findings/find.h"
#include "findings/rules.h"
#include "loaded.h"
#include "model/dataset.h"

namespace syscost::bench::findings {
namespace {

using testing::Cells;
using testing::syscall_row;
using testing::test_row;

/// A measured window with these `syscall` rows.
std::string window(const std::vector<Cells>& rows, Cells totals = {}) {
  int calls = 0;
  std::string text;
  for (const Cells& row : rows) {
    calls += std::stoi(row.at("calls"));
    text += syscall_row(row);
  }
  totals.insert({{"total_calls", std::to_string(calls)}, {"total_errors", "0"}, {"total_bytes_read", "0"}});
  return test_row(totals) + text;
}

Findings find_in(const std::string& rows) {
  model::LoadOptions options;
  options.keep_sites = true;
  testing::Loaded loaded = testing::load(rows, options);
  EXPECT_EQ(loaded.problems, "");
  const std::vector<model::Group> groups = model::group_samples(loaded.data);
  return find(loaded.data, groups);
}

std::vector<std::string> evidence_in(const std::vector<Finding>& list, const std::string& rule) {
  std::vector<std::string> out;
  for (const Finding& finding : list) {
    if (finding.rule == rule) out.push_back(finding.evidence);
  }
  return out;
}

std::vector<std::string> evidence_of(const std::string& rule, const std::string& rows) {
  return evidence_in(find_in(rows).found, rule);
}

/// The evidence of notes; there must be no finding of this rule.
std::vector<std::string> notes_of(const std::string& rule, const std::string& rows) {
  const Findings all = find_in(rows);
  EXPECT_EQ(evidence_in(all.found, rule), std::vector<std::string>());
  return evidence_in(all.notes, rule);
}

using Texts = std::vector<std::string>;

Cells calls(const std::string& syscall, int count, Cells more = {}) {
  more.insert({{"syscall", syscall}, {"calls", std::to_string(count)}, {"errors", "0"}});
  return more;
}

/// Calls of 10 us each, so that 100 of them cost enough for a finding.
Cells dear_calls(const std::string& syscall, int count, Cells more = {}) {
  more.insert({{"latency_count", std::to_string(count)}, {"latency_sum_ns", std::to_string(count) + "0000"}});
  return calls(syscall, count, std::move(more));
}

TEST(TinyWrites, FiresForManySmallWrites) {
  EXPECT_EQ(evidence_of("tiny-writes", window({calls("openat", 1), dear_calls("write", 1000, {{"bytes", "4000"}})})),
            Texts{"1000 writes move 4 bytes each on average"});
}

TEST(Findings, AreNotesIfTheirCallsCostNextToNothing) {
  const Texts found = {"1000 writes move 4 bytes each on average"};
  const auto test = [](const std::string& name, const std::string& wall_ns, const std::string& write_ns) {
    Cells row = calls("write", 1000, {{"bytes", "4000"}, {"latency_count", "1000"}, {"latency_sum_ns", write_ns}});
    const Cells key = {{"test", name}};
    row.insert(key.begin(), key.end());
    return test_row({{"test", name},
                     {"wall_ns", wall_ns},
                     {"total_calls", "1000"},
                     {"total_errors", "0"},
                     {"total_bytes_read", "0"}}) +
           syscall_row(row);
  };
  EXPECT_EQ(notes_of("tiny-writes", test("A.A", "100000000", "999000")), found);
  EXPECT_EQ(evidence_of("tiny-writes", test("A.A", "100000000", "1000000")), found);
  // 1 ms of more than a second is next to nothing, too.
  EXPECT_EQ(notes_of("tiny-writes", test("A.A", "1100000000", "1000000")), found);
  // Those of a line cost enough together; a run without lines has them by rule.
  EXPECT_EQ(evidence_of("tiny-writes", test("A.A", "100000000", "500000") + test("A.B", "100000000", "500000")).size(),
            2U);
}

/// The machine decides how many passes a loop has, so their cost together says nothing of the program.
TEST(Findings, OfALoopDoNotDependOnThePassesThatItMade) {
  const Cells key = {{"kind", "loop"}, {"window", "write"}};
  const auto loop = [&](const std::string& wall_ns) {
    Cells row = calls("write", 2000, {{"bytes", "2000"}, {"latency_count", "2000"}, {"latency_sum_ns", "400000"}});
    row.insert(key.begin(), key.end());
    Cells totals = {{"iterations", "2"}, {"wall_ns", wall_ns}, {"outcome", ""}};
    totals.insert(key.begin(), key.end());
    return window({row}, totals);
  };
  EXPECT_EQ(evidence_of("tiny-writes", loop("600000")), Texts{"1000 writes a call move 1 byte each on average"});
  EXPECT_EQ(notes_of("tiny-writes", loop("600000000")).size(), 1U) << "next to nothing of its time";
}

TEST(TinyWrites, IsANoteIfATestMayNeedThem) {
  EXPECT_EQ(notes_of("tiny-writes", window({dear_calls("write", 999, {{"bytes", "999"}})})),
            Texts{"999 writes move 1 byte each on average"});
  EXPECT_EQ(notes_of("tiny-writes", window({dear_calls("write", 2000, {{"bytes", "10000"}})})),
            Texts{"2000 writes move 5 bytes each on average"});
}

TEST(TinyWrites, NamesTheLineThatWritesMost) {
  const Findings all =
      find_in(window({dear_calls("write", 1000, {{"bytes", "4000"}, {"detail", "at src/log.cc:17 Log::batch+3"}}),
                      dear_calls("write", 2, {{"bytes", "8"}, {"detail", "at src/log.cc:40 Log::end"}})}));
  ASSERT_EQ(all.found.size(), 1U);
  EXPECT_EQ(all.found[0].site, "src/log.cc:17 Log::batch");
  EXPECT_EQ(all.found[0].syscall, "write");
  EXPECT_EQ(all.found[0].window, "Suite.Test");
}

TEST(TinyWrites, LeavesLargeFewAndMessagesAlone) {
  EXPECT_EQ(notes_of("tiny-writes", window({calls("write", 300, {{"bytes", "1228800"}})})), Texts{});
  EXPECT_EQ(notes_of("tiny-writes", window({calls("write", 40, {{"bytes", "640"}})})), Texts{});
  // Small files take small writes.
  EXPECT_EQ(notes_of("tiny-writes", window({calls("openat", 300), calls("write", 300, {{"bytes", "4800"}})})), Texts{});
  EXPECT_EQ(notes_of("tiny-writes", window({calls("eventfd2", 1), calls("write", 300, {{"bytes", "2400"}})})), Texts{});
}

TEST(FsyncStorm, FiresForASyncPerWrite) {
  EXPECT_EQ(notes_of("fsync-storm", window({calls("write", 100, {{"bytes", "409600"}}), calls("fdatasync", 100)})),
            Texts{"100 syncs for 100 writes and 0 opens"});
}

TEST(FsyncStorm, LeavesGroupsOfWritesAlone) {
  EXPECT_EQ(notes_of("fsync-storm", window({calls("write", 500, {{"bytes", "2048000"}}), calls("fsync", 20)})),
            Texts{});
  EXPECT_EQ(notes_of("fsync-storm", window({calls("write", 1, {{"bytes", "4096"}}), calls("fsync", 1)})), Texts{});
  EXPECT_EQ(notes_of("fsync-storm", window({calls("openat", 90), calls("write", 100), calls("fsync", 100)})), Texts{});
}

TEST(TinyReads, FiresForManySmallReadsAndNotForBlocks) {
  EXPECT_EQ(evidence_of("tiny-reads", window({dear_calls("read", 4000, {{"bytes", "4000"}})})),
            Texts{"4000 reads move 1 byte each on average"});
  EXPECT_EQ(notes_of("tiny-reads", window({dear_calls("read", 400, {{"bytes", "1638400"}})})), Texts{});
}

TEST(MissingPaths, FiresForManyLookupsThatFindNothing) {
  const Cells missing = {{"errors", "40"}, {"errnos", "ENOENT:40"}};
  EXPECT_EQ(notes_of("missing-paths", window({calls("openat", 50, missing)}, {{"total_errors", "40"}})),
            Texts{"40 of 50 lookups of paths find nothing (ENOENT)"});
  EXPECT_EQ(notes_of("missing-paths", window({calls("openat", 50, missing), calls("newfstatat", 50)})), Texts{});
  EXPECT_EQ(notes_of("missing-paths", window({calls("openat", 50, {{"errors", "40"}, {"errnos", "EACCES:40"}})})),
            Texts{});
}

TEST(BusyPolling, FiresForYieldsAndRefusalsAndNotForEdges) {
  EXPECT_EQ(notes_of("busy-polling", window({calls("sched_yield", 500)})),
            Texts{"500 sched_yield: a thread spins until another one has done something"});
  EXPECT_EQ(notes_of("busy-polling", window({calls("recvfrom", 100, {{"errors", "90"}, {"errnos", "EAGAIN:90"}})})),
            Texts{"90 of 100 recvfrom find nothing to do (EAGAIN)"});
  // A loop on edges reads until there is nothing left: every second call.
  EXPECT_EQ(notes_of("busy-polling", window({calls("read", 200, {{"errors", "100"}, {"errnos", "EAGAIN:100"}}),
                                             calls("sched_yield", 5)})),
            Texts{});
}

Cells timed(const std::string& syscall, int count, const std::string& sum_ns, Cells more = {}) {
  more.insert({{"class", "wait"}, {"latency_count", std::to_string(count)}, {"latency_sum_ns", sum_ns}});
  return calls(syscall, count, more);
}

TEST(SleepInTest, FiresForLongSleepsAndNotForShortOnes) {
  EXPECT_EQ(notes_of("sleep-in-test", window({timed("clock_nanosleep", 2, "200000000")})),
            Texts{"2 sleeps take 200 ms"});
  EXPECT_EQ(notes_of("sleep-in-test", window({timed("clock_nanosleep", 2, "20000000")})), Texts{});
  EXPECT_EQ(notes_of("sleep-in-test", window({timed("clock_nanosleep", 100, "100000000")})), Texts{});
  // A command may have to sleep.
  EXPECT_EQ(notes_of("sleep-in-test", test_row({{"kind", "process"}, {"total_calls", "1"}, {"total_errors", "0"}}) +
                                          syscall_row({{"kind", "process"},
                                                       {"syscall", "nanosleep"},
                                                       {"calls", "1"},
                                                       {"latency_count", "1"},
                                                       {"latency_sum_ns", "1000000000"}})),
            Texts{});
}

TEST(ShortTimeouts, FiresForShortSleepsAndWaits) {
  EXPECT_EQ(notes_of("short-timeouts", window({timed("nanosleep", 100, "100000000")})),
            Texts{"100 sleeps take 1.00 ms each on average"});
  const Cells timeouts = {{"errors", "60"}, {"errnos", "ETIMEDOUT:60"}};
  EXPECT_EQ(notes_of("short-timeouts", window({timed("futex", 80, "80000000", timeouts)})),
            Texts{"60 of 80 futex time out"});
  EXPECT_EQ(notes_of("short-timeouts", window({timed("futex", 80, "80000000000", timeouts)})), Texts{});
  EXPECT_EQ(notes_of("short-timeouts", window({timed("nanosleep", 3, "3000000")})), Texts{});
}

TEST(AllocatorChurn, FiresForMemoryThatComesAndGoes) {
  const Cells mapped = {{"bytes", "104857600"}};
  const Cells released = {{"bytes_released", "104857600"}};
  EXPECT_EQ(notes_of("allocator-churn", window({calls("mmap", 100, mapped), calls("munmap", 100, released)})),
            Texts{"100 mmap and 100 munmap take 104857600 bytes and give 104857600 of them back"});
  EXPECT_EQ(
      notes_of("allocator-churn", window({calls("brk", 80, {{"bytes", "8192000"}, {"bytes_released", "8192000"}})})),
      Texts{"80 brk take 8192000 bytes and give 8192000 of them back"});
}

TEST(AllocatorChurn, LeavesFilesThreadsAndGrowthAlone) {
  const Cells mapped = {{"bytes", "104857600"}};
  const Cells released = {{"bytes_released", "104857600"}};
  EXPECT_EQ(notes_of("allocator-churn", window({calls("openat", 50), calls("clone3", 40), calls("mmap", 100, mapped),
                                                calls("munmap", 100, released)})),
            Texts{});
  EXPECT_EQ(notes_of("allocator-churn", window({calls("brk", 80, {{"bytes", "8192000"}, {"bytes_released", "4096"}})})),
            Texts{});
}

std::string child(const std::string& program, std::vector<Cells> rows) {
  const Cells key = {{"kind", "process"}, {"window", program}};
  std::string text = test_row({{"kind", "process"}, {"window", program}, {"total_calls", "0"}, {"total_errors", "0"}});
  for (Cells& row : rows) {
    row.insert(key.begin(), key.end());
    text += syscall_row(row);
  }
  return text;
}

TEST(ForkWithoutExec, CountsChildrenThatRunNoOtherProgram) {
  const std::string own = window({calls("clone", 12), calls("wait4", 12)});
  EXPECT_EQ(notes_of("fork-without-exec", own + child("tests", {calls("exit_group", 12)})),
            Texts{"12 children end without an exec: fork copied the page tables for each of them"});
  EXPECT_EQ(notes_of("fork-without-exec",
                     window({calls("clone", 40), calls("wait4", 40)}) + child("tests", {calls("exit_group", 40)})),
            Texts{"40 children end without an exec: fork copied the page tables for each of them"});
  EXPECT_EQ(notes_of("fork-without-exec",
                     own + child("tests", {calls("execve", 12)}) + child("true", {calls("exit_group", 12)})),
            Texts{});
}

TEST(ForkWithoutExec, NeedsRowsOfChildrenIfThereAreChildren) {
  const auto lacks = [](const std::string& rows) {
    const Findings all = find_in(rows);
    return std::any_of(all.not_checked.begin(), all.not_checked.end(),
                       [](const NotChecked& one) { return one.rule == "fork-without-exec"; });
  };
  EXPECT_TRUE(lacks(window({calls("clone", 12)})));
  EXPECT_FALSE(lacks(window({calls("write", 12)})));
}

std::string figure(const std::string& name, const std::string& wall_ns) {
  return test_row({{"kind", "gpu_kernel"}, {"window", name}, {"wall_ns", wall_ns}, {"iterations", "1"}});
}

TEST(GpuTransfers, ComparesCopiesWithGpuKernels) {
  const std::string own = test_row();
  EXPECT_EQ(notes_of("gpu-transfers",
                     own + figure("all kernels (CUPTI)", "25000") + figure("all transfers (CUPTI)", "200000")),
            Texts{"copies between host and device take 200 us, GPU kernels 25.0 us: 8 times as long"});
  EXPECT_EQ(notes_of("gpu-transfers",
                     own + figure("all kernels (CUPTI)", "1000") + figure("all transfers (CUPTI)", "4089000")),
            Texts{"copies between host and device take 4.09 ms, GPU kernels 1.00 us: 4089 times as long"});
  // Too short to matter.
  EXPECT_EQ(
      notes_of("gpu-transfers", own + figure("all kernels (CUPTI)", "1000") + figure("all transfers (CUPTI)", "99000")),
      Texts{});
  EXPECT_EQ(
      notes_of("gpu-transfers", own + figure("all kernels (CUPTI)", "8000") + figure("all transfers (CUPTI)", "1000")),
      Texts{});
}

TEST(GpuAllocations, CountsRequestsForMemoryInAPass) {
  const auto benchmark = [](const std::string& request) {
    const Cells key = {{"kind", "benchmark"}, {"test", "BM_Sum"}};
    Cells row = calls("ioctl", 200, {{"detail", request}});
    row.insert(key.begin(), key.end());
    return test_row({{"kind", "benchmark"},
                     {"test", "BM_Sum"},
                     {"iterations", "100"},
                     {"counted_iterations", "100"},
                     {"total_calls", "200"},
                     {"total_errors", "0"}}) +
           syscall_row(row);
  };
  EXPECT_EQ(evidence_of("gpu-allocations", benchmark("nvidiactl RM_ALLOC MEMORY_LOCAL_USER")),
            Texts{"2 requests for GPU memory an iteration"});
  EXPECT_EQ(evidence_of("gpu-allocations", benchmark("nvidiactl RM_CONTROL 0x2080ffff")), Texts{});
}

TEST(GpuAllocations, OfATestWithoutStampsAreANote) {
  const auto test = [](int taken, int given_back) {
    return window({calls("ioctl", taken, {{"detail", "nvidiactl RM_ALLOC MEMORY_LOCAL_USER"}}),
                   calls("ioctl", given_back, {{"detail", "nvidiactl RM_FREE"}})});
  };
  EXPECT_EQ(notes_of("gpu-allocations", test(33, 33)), Texts{"33 requests for GPU memory, 33 to give it back"});
  // A driver that starts takes memory and keeps it.
  EXPECT_EQ(notes_of("gpu-allocations", test(44, 1)), Texts{});
  EXPECT_EQ(notes_of("gpu-allocations", test(15, 33)), Texts{});
}

TEST(FailingCalls, FiresForErrorsAndNotForNotNow) {
  EXPECT_EQ(notes_of("failing-calls", window({calls("mkdir", 20, {{"errors", "19"}, {"errnos", "EEXIST:19"}})})),
            Texts{"19 of 20 mkdir fail (EEXIST)"});
  // Cheap, and wrong anyway.
  EXPECT_EQ(evidence_of("failing-calls", window({calls("read", 900, {{"errors", "20"}, {"errnos", "EBADF:20"}})})),
            Texts{"20 of 900 read fail, because the descriptor is not open (EBADF)"});
  EXPECT_EQ(notes_of("failing-calls", window({calls("read", 900, {{"errors", "19"}, {"errnos", "EBADF:19"}})})),
            Texts{});
  // It may close all descriptors there can be.
  EXPECT_EQ(notes_of("failing-calls", window({calls("close", 900, {{"errors", "20"}, {"errnos", "EBADF:20"}})})),
            Texts{"20 of 900 close fail, because the descriptor is not open (EBADF)"});
  EXPECT_EQ(notes_of("failing-calls", window({calls("futex", 20, {{"errors", "19"}, {"errnos", "EAGAIN:19"}})})),
            Texts{});
}

TEST(ManyCalls, IsSilentIfAnotherRuleNamesTheSyscall) {
  EXPECT_EQ(notes_of("many-calls", window({calls("getppid", 2000)})), Texts{"2000 getppid"});
  EXPECT_EQ(notes_of("many-calls", window({calls("getppid", 900)})), Texts{});
  const std::string tiny = window({dear_calls("write", 2000, {{"bytes", "2000"}})});
  EXPECT_EQ(notes_of("many-calls", tiny), Texts{});
  EXPECT_EQ(evidence_of("tiny-writes", tiny).size(), 1U);
}

TEST(Findings, SayWhatWasNotCheckedAndWhy) {
  const Findings all =
      find_in(test_row({{"total_entries", "300"}}) + syscall_row({{"calls", ""}, {"errors", ""}, {"entries", "300"}}));
  EXPECT_TRUE(all.found.empty());
  const auto tiny = std::find_if(all.not_checked.begin(), all.not_checked.end(),
                                 [](const NotChecked& one) { return one.rule == "tiny-writes"; });
  ASSERT_NE(tiny, all.not_checked.end());
  EXPECT_EQ(tiny->reason, "the backend sees no results of calls");
  EXPECT_EQ(tiny->windows, 1U);
}

TEST(Findings, AreKeptByTheCostOfTheirLine) {
  const Rule& writes = *rule_of("tiny-writes");
  std::vector<Finding> found = {{writes.name, "A.A", "", "a.cc:1", "", "", 50},
                                {rule_of("tiny-reads")->name, "A.A", "", "a.cc:2", "", "", 40},
                                {writes.name, "A.A", "", "a.cc:3", "", "", 20},
                                {writes.name, "A.B", "", "a.cc:3", "", "", 30}};
  std::vector<RuleFindings> blocks = by_rule(found);
  EXPECT_EQ(keep_dearest(blocks, 3), 0U);
  EXPECT_EQ(keep_dearest(blocks, 0), 0U);
  EXPECT_EQ(keep_dearest(blocks, 2), 1U);
  ASSERT_EQ(blocks.size(), 1U);
  ASSERT_EQ(blocks[0].parts.size(), 2U);
  EXPECT_EQ(blocks[0].parts[1].worst->site, "a.cc:3");  // 50 together, and 40 are gone
}

TEST(Rules, HaveNamesOfTheirOwnAndAnAnswer) {
  for (const Rule& rule : rules()) {
    EXPECT_EQ(rule_of(rule.name), &rule);
    EXPECT_TRUE(rule.definition.ends_with('.') && rule.remedy.ends_with('.')) << rule.name;
  }
}

}  // namespace
}  // namespace syscost::bench::findings
