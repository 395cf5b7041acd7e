// SPDX-License-Identifier: MIT
//
// Segments reads shared memory; here the test plays the programs' part and writes it.
#include "backends/ebpf/segments.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <thread>
#include <vector>

namespace syscost::ebpf {
namespace {

constexpr std::uint32_t kCpus = 2;
constexpr SyscallId kCounted{Abi::x86_64, 1};

/// Records what it is given.
struct CollectedCrossings final : CrossingSink {
  void add(const Crossing& crossing) override { all.push_back(crossing); }
  std::vector<Crossing> all;
};

class SegmentsTest : public testing::Test {
 protected:
  SegmentsTest() {
    memory_.cpu_count = kCpus;
    blocks_.resize(map_blocks(kCpus));
    memory_.blocks = blocks_;
    memory_.directory().syscall_of[kSlot] = kCounted.number;
    memory_.directory().slots_used = kSlot + 1;
  }

  static constexpr std::uint32_t kSlot = 5;

  syscost_cell& cell(std::uint32_t bank, std::uint32_t partition) {
    return this->partition(bank, partition).cells[kSlot];
  }
  syscost_bank& partition(std::uint32_t bank, std::uint32_t index) {
    return memory_.bank(bank * memory_.partition_count() + index);
  }
  /// Does the same as sys_enter and sys_exit for `count` calls of `latency_ns` each.
  void calls(std::uint32_t bank, std::uint32_t index, std::uint64_t count, std::uint64_t latency_ns) {
    syscost_cell& target = cell(bank, index);
    target.entries += count;
    target.calls += count;
    if (target.latency_count == 0 || latency_ns < target.latency_min_ns) target.latency_min_ns = latency_ns;
    if (latency_ns > target.latency_max_ns) target.latency_max_ns = latency_ns;
    target.latency_count += count;
    target.latency_sum_ns += count * latency_ns;
    target.buckets[syscost_bucket_of(latency_ns)] += count;
    partition(bank, index).dirty_enter[0] |= 1ULL << kSlot;
    partition(bank, index).dirty_exit[0] |= 1ULL << kSlot;
  }
  void crossing(std::uint64_t entered_in, std::uint64_t returned_in) {
    std::uint64_t index = memory_.directory().log_produced++;
    syscost_log_record& record = memory_.log_record(index);
    record = {};
    record.entered_in = entered_in;
    record.returned_in = returned_in;
    record.slot = kSlot;
    record.outcome = SYSCOST_OUTCOME_CALL;
    record.sequence = index + 1;
  }

  std::vector<syscost_block> blocks_;
  SharedMemory memory_;
};

TEST_F(SegmentsTest, AddsUpTheCpusOfTheProcessLane) {
  calls(1, 0, 3, 100);
  calls(1, 1, 4, 200);
  Segments segments(memory_);
  CallTable table(std::pmr::get_default_resource());
  segments.take(Lane::kProcess, 1, table);
  const Tally& write = table.at(kCounted);
  EXPECT_EQ(write.entries, 7U);
  EXPECT_EQ(write.calls, 7U);
  EXPECT_EQ(write.latency.count(), 7U);
  EXPECT_EQ(write.latency.sum_ns(), 3 * 100U + 4 * 200U);
  EXPECT_EQ(write.latency.min_ns(), 100U);
  EXPECT_EQ(write.latency.max_ns(), 200U);
}

TEST_F(SegmentsTest, LeavesTheOtherBankAndOtherLanesAlone) {
  calls(0, 0, 1, 100);
  calls(1, kCpus, 2, 100);  // lane 1, the first thread lane
  Segments segments(memory_);
  CallTable table(std::pmr::get_default_resource());
  segments.take(Lane::kProcess, 1, table);
  EXPECT_TRUE(table.empty());
  segments.take(Lane{1}, 1, table);
  EXPECT_EQ(table.at(kCounted).calls, 2U);
}

TEST_F(SegmentsTest, TakesEverythingExactlyOnce) {
  calls(1, 0, 3, 100);
  Segments segments(memory_);
  CallTable first(std::pmr::get_default_resource());
  segments.take(Lane::kProcess, 1, first);
  CallTable second(std::pmr::get_default_resource());
  segments.take(Lane::kProcess, 1, second);
  EXPECT_TRUE(second.empty());
  EXPECT_EQ(cell(1, 0).buckets[syscost_bucket_of(100)], 0U);
}

TEST_F(SegmentsTest, CountsErrorsByErrnoAndInterruptedCallsAsEintr) {
  calls(1, 0, 2, 100);
  memory_.directory().error_of[9] = kSlot << 16 | EBADF;
  partition(1, 0).errors[9] = 2;
  partition(1, 0).dirty_errors[0] |= 1ULL << 9;
  cell(1, 0).interrupted = 1;
  partition(1, 0).dirty_deliver[0] |= 1ULL << kSlot;
  Segments segments(memory_);
  CallTable table(std::pmr::get_default_resource());
  segments.take(Lane::kProcess, 1, table);
  EXPECT_EQ(table.at(kCounted).errors.count(EBADF), 2U);
  EXPECT_EQ(table.at(kCounted).errors.count(EINTR), 1U);
  EXPECT_EQ(table.at(kCounted).calls, 3U);
}

TEST_F(SegmentsTest, ClearsWhatAStragglerLeftSoThatTheNextSegmentStartsAtZero) {
  Segments segments(memory_);
  calls(0, 1, 5, 100);
  partition(0, 1).errors[9] = 1;
  partition(0, 1).dirty_errors[0] |= 1ULL << 9;
  segments.clear_leftovers(Lane::kProcess, 0);
  CallTable table(std::pmr::get_default_resource());
  segments.take(Lane::kProcess, 0, table);
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(cell(0, 1).buckets[syscost_bucket_of(100)], 0U);
  EXPECT_EQ(partition(0, 1).errors[9], 0U);
}

TEST_F(SegmentsTest, KeepsNumbersBeyondTheTablesByNumber) {
  memory_.directory().syscall_of[kSlot] = 1ULL << 63 | 2ULL << 32 | 1'000'001;
  calls(1, 0, 1, 100);
  Segments segments(memory_);
  CallTable table(std::pmr::get_default_resource());
  segments.take(Lane::kProcess, 1, table);
  EXPECT_EQ(table.at({Abi::x32, 1'000'001}).calls, 1U);
}

TEST_F(SegmentsTest, DeliversEachCrossingOnceAndInOrder) {
  Segments segments(memory_);
  crossing(1, 2);
  crossing(1, 3);
  CollectedCrossings collected;
  segments.take_crossings(collected);
  segments.take_crossings(collected);
  ASSERT_EQ(collected.all.size(), 2U);
  EXPECT_EQ(collected.all[0].returned_in, 2U);
  EXPECT_EQ(collected.all[1].returned_in, 3U);
  EXPECT_EQ(memory_.directory().log_consumed, 2U);
  EXPECT_EQ(segments.lost(), 0U);
}

TEST_F(SegmentsTest, CountsCrossingsThatFoundNoRoomAsLost) {
  Segments segments(memory_);
  for (int i = 0; i < SYSCOST_LOG_RECORDS; ++i) crossing(1, 2);
  memory_.directory().log_produced += 3;  // three more came: no room, nothing written
  memory_.directory().log_lost += 3;
  CollectedCrossings collected;
  segments.take_crossings(collected);
  EXPECT_EQ(collected.all.size(), std::size_t{SYSCOST_LOG_RECORDS});
  EXPECT_EQ(segments.lost(), 3U);
  crossing(4, 5);
  segments.take_crossings(collected);
  EXPECT_EQ(collected.all.back().entered_in, 4U);
}

TEST_F(SegmentsTest, WaitsForAProgramThatIsRunning) {
  memory_.cpus()[1].exit_sequence = 1;
  Segments segments(memory_);
  std::thread program([this] { std::atomic_ref(memory_.cpus()[1].exit_sequence).store(2); });
  EXPECT_EQ(segments.wait_for_programs(), 0U);
  program.join();
  EXPECT_EQ(memory_.cpus()[1].exit_sequence, 2U);
}

TEST_F(SegmentsTest, CountsProgramsThatDoNotEndAsLate) {
  memory_.cpus()[0].enter_sequence = 7;
  memory_.cpus()[1].deliver_sequence = 3;
  Segments segments(memory_);
  EXPECT_EQ(segments.wait_for_programs(), 2U);
}

}  // namespace
}  // namespace syscost::ebpf
