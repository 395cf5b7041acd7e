// SPDX-License-Identifier: MIT
//
// ChildCounts reads shared memory; here the test plays the programs' part and writes it.
#include "extras/children/ebpf/child_counts.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backends/ebpf/segments.h"

namespace syscost::ebpf {
namespace {

constexpr SyscallId kWrite{Abi::x86_64, 1};
constexpr SyscallId kWild{Abi::x86_64, 2000};

class ChildCountsTest : public testing::Test {
 protected:
  /// Does the same as the BPF programs at the first call of `program` to `syscall`.
  std::uint32_t slot(const char* program, std::uint64_t syscall) {
    std::uint32_t number = 0;
    while (number < children_->programs_used && std::strcmp(children_->names[number], program) != 0) ++number;
    if (number == children_->programs_used) {
      std::memcpy(children_->names[children_->programs_used++], program, std::strlen(program) + 1);
    }
    const std::uint32_t fresh = children_->slots_used++;
    children_->calls[fresh] = {syscall, number, 0};
    return SYSCOST_FIRST_CHILD_SLOT + fresh;
  }
  void calls(std::uint32_t bank, std::uint32_t slot, std::uint64_t count, std::uint64_t latency_ns) {
    const std::uint32_t index = slot - SYSCOST_FIRST_CHILD_SLOT;
    syscost_cell& cell = cells_[std::size_t{bank} * SYSCOST_CHILD_SLOTS + index];
    cell.entries += count;
    cell.calls += count;
    cell.latency_count += count;
    cell.latency_sum_ns += count * latency_ns;
    cell.latency_min_ns = cell.latency_max_ns = latency_ns;
    cell.buckets[syscost_bucket_of(latency_ns)] += count;
    children_->banks[bank].dirty[index / 64] |= 1ULL << index % 64;
  }
  void errors(std::uint32_t bank, std::uint32_t slot, std::uint32_t error, std::uint64_t count) {
    const std::uint32_t fresh = children_->error_slots_used++;
    children_->errors[fresh] = {slot, error};
    children_->banks[bank].errors[fresh] += count;
    children_->banks[bank].dirty_errors[fresh / 64] |= 1ULL << fresh % 64;
  }

  void take(std::uint32_t bank) {
    counts_.end_segment(bank);
    counts_.read_programs(tables_);
  }

  std::unique_ptr<syscost_children> children_ = std::make_unique<syscost_children>();
  std::vector<syscost_cell> cells_ = std::vector<syscost_cell>(std::size_t{SYSCOST_BANKS} * SYSCOST_CHILD_SLOTS);
  ChildCounts counts_{*children_, cells_, 2, ForkDetector()};
  ProgramTables tables_{std::pmr::get_default_resource()};
};

TEST_F(ChildCountsTest, AreOfTheirProgram) {
  calls(1, slot("cc", kWrite.number), 3, 100);
  calls(1, slot("ld", kWrite.number), 4, 200);
  take(1);
  EXPECT_EQ(tables_.at("cc").at(kWrite).calls, 3U);
  EXPECT_EQ(tables_.at("ld").at(kWrite).calls, 4U);
  EXPECT_EQ(tables_.at("ld").at(kWrite).latency.sum_ns(), 800U);
}

TEST_F(ChildCountsTest, OfOneProgramThatTwoProcessorsMetFirstAreAddedUp) {
  const std::uint32_t first = slot("cc", kWrite.number);
  const std::uint32_t second = slot("cc", kWrite.number);
  calls(0, first, 1, 100);
  calls(0, second, 1, 100);
  errors(0, first, EBADF, 1);
  errors(0, first, EBADF, 1);
  take(0);
  EXPECT_EQ(tables_.at("cc").at(kWrite).calls, 2U);
  EXPECT_EQ(tables_.at("cc").at(kWrite).errors.count(EBADF), 2U);
}

TEST_F(ChildCountsTest, AreTakenOnceAndOfOneBank) {
  const std::uint32_t write = slot("cc", kWrite.number);
  calls(0, write, 1, 100);
  errors(0, write, EIO, 1);
  calls(1, write, 2, 100);
  take(0);
  take(0);
  EXPECT_EQ(tables_.at("cc").at(kWrite).calls, 1U);
  EXPECT_EQ(tables_.at("cc").at(kWrite).errors.count(EIO), 1U);
}

TEST_F(ChildCountsTest, OfStragglersAreCleared) {
  const std::uint32_t write = slot("cc", kWrite.number);
  calls(0, write, 1, 100);
  errors(0, write, EIO, 1);
  counts_.begin_segment(0);
  take(0);
  EXPECT_TRUE(tables_.empty());
  EXPECT_EQ(cells_[0].buckets[syscost_bucket_of(100)], 0U);
}

TEST_F(ChildCountsTest, OfNumbersBeyondTheTableAreLeftOutByTheFilter) {
  const std::uint32_t wild = slot("cc", 1ULL << 63 | kWild.number);
  calls(0, wild, 1, 100);
  errors(0, wild, ENOSYS, 1);
  calls(0, slot("cc", kWrite.number), 1, 100);
  const Result<std::shared_ptr<const Filter>> filter = Filter::parse("write");
  ASSERT_TRUE(filter.ok());
  counts_.select(*filter.value());
  take(0);
  EXPECT_EQ(tables_.at("cc").at(kWrite).calls, 1U);
  EXPECT_EQ(tables_.at("cc").find(kWild), nullptr);
}

TEST_F(ChildCountsTest, HaveNamesThatCanBePrinted) {
  calls(0, slot("odd\n\x7fname\xc3\xa9", kWrite.number), 1, 100);
  calls(0, slot("", kWrite.number), 1, 100);
  take(0);
  std::vector<std::string> names;
  for (const auto& [program, table] : tables_) names.emplace_back(program);
  EXPECT_EQ(names, (std::vector<std::string>{"odd??name\xc3\xa9", "unknown"}));
}

TEST_F(ChildCountsTest, ThatCouldNotBeMadeAreLost) {
  children_->cpus[0].lost_enter = 1;
  children_->cpus[1].lost_deliver = 2;
  children_->cpus[2].lost_enter = 100;  // no such CPU
  children_->lost_processes = 4;
  EXPECT_EQ(counts_.lost(), 7U);
}

TEST_F(ChildCountsTest, WaitForProgramsThatCountThem) {
  children_->cpus[1].exit_sequence = 5;
  EXPECT_EQ(counts_.wait_for_programs(), 1U);
}

TEST_F(ChildCountsTest, NameOnlyTheirOwnSlots) {
  Crossing crossing;
  EXPECT_FALSE(counts_.name_call(SYSCOST_FIRST_CHILD_SLOT - 1, crossing));
  EXPECT_FALSE(counts_.name_call(SYSCOST_FIRST_CHILD_SLOT + SYSCOST_CHILD_SLOTS, crossing));
  EXPECT_TRUE(counts_.name_call(slot("cc", kWrite.number), crossing));
}

TEST_F(ChildCountsTest, HaveCrossingsThatNameTheProgram) {
  struct Named final : CrossingSink {
    void add(const Crossing& crossing) override {
      program = crossing.program;
      id = crossing.id;
      outcome = crossing.outcome;
    }
    std::string program;
    SyscallId id;
    Crossing::Outcome outcome{};
  } named;
  std::vector<syscost_block> blocks(map_blocks(2));
  SharedMemory memory;
  memory.cpu_count = 2;
  memory.blocks = blocks;
  syscost_log_record& record = memory.log_record(0);
  record.entered_in = 1;
  record.returned_in = 2;
  record.slot = slot("cc", kWrite.number);
  record.outcome = SYSCOST_OUTCOME_NO_RETURN;
  record.sequence = 1;
  memory.directory().log_produced = 1;
  Abilities abilities;
  abilities.push_back(std::make_unique<ChildCounts>(*children_, cells_, 2, ForkDetector()));
  Segments(memory).take_crossings(named, abilities);
  EXPECT_EQ(named.program, "cc");
  EXPECT_TRUE(named.id == kWrite);
  EXPECT_EQ(named.outcome, Crossing::Outcome::kNoReturn);
}

}  // namespace
}  // namespace syscost::ebpf
