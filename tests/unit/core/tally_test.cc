// SPDX-License-Identifier: MIT
#include "core/tally.h"

#include <gtest/gtest.h>

#include <array>
#include <memory_resource>
#include <random>
#include <vector>

#include "allocation_counter.h"
#include "core/cost_data.h"

namespace syscost {
namespace {

constexpr SyscallId kRead{Abi::x86_64, 0};
constexpr SyscallId kWrite{Abi::x86_64, 1};
constexpr SyscallId kWrite32{Abi::i386, 4};

std::pmr::memory_resource* heap() {
  return std::pmr::get_default_resource();
}

TEST(ErrnoCounts, KeepsErrnosAscendingAndCountsEach) {
  ErrnoCounts errors(heap());
  for (int error : {13, 2, 4095, 2, 1, 13, 2}) errors.add(error);
  std::vector<std::pair<int, std::uint64_t>> seen;
  for (const ErrnoCounts::Entry& entry : errors) seen.emplace_back(entry.error, entry.count);
  EXPECT_EQ(seen, (std::vector<std::pair<int, std::uint64_t>>{{1, 1}, {2, 3}, {13, 2}, {4095, 1}}));
  EXPECT_EQ(errors.total(), 7U);
  EXPECT_EQ(errors.count(2), 3U);
  EXPECT_EQ(errors.count(3), 0U);
}

TEST(ErrnoCounts, TakesNothingThatIsNoErrno) {
  ErrnoCounts errors(heap());
  for (int error : {0, -1, 4096}) errors.add(error);
  errors.add(2, 0);
  EXPECT_TRUE(errors.empty());
}

TEST(Tally, HoldsItsIdentity) {
  Tally tally(heap());
  tally.entries = 10;
  tally.calls = 6;
  tally.restarts = 2;
  tally.no_return = 1;
  EXPECT_EQ(tally.in_flight(), 1U);
  EXPECT_EQ(tally.entries, tally.calls + tally.restarts + tally.in_flight() + tally.no_return);
}

TEST(Tally, HasNothingInFlightWhereEntriesAreNotSeen) {
  Tally tally(heap());
  tally.calls = 5;
  EXPECT_EQ(tally.in_flight(), 0U);
}

TEST(Tally, KeepsItsIdentityWhenMerged) {
  std::mt19937 random(11);
  Tally total(heap());
  std::uint64_t in_flight = 0;
  for (int i = 0; i < 50; ++i) {
    Tally part(heap());
    part.calls = random() % 100;
    part.restarts = random() % 10;
    part.no_return = random() % 2;
    std::uint64_t pending = random() % 3;
    part.entries = part.calls + part.restarts + part.no_return + pending;
    part.carried_in = 1;
    part.altered = 1;
    part.denied = 2;
    part.errors.add(1 + static_cast<int>(random() % 5), 3);
    part.latency.add(random());
    in_flight += pending;
    total.merge(part);
  }
  EXPECT_EQ(total.in_flight(), in_flight);
  EXPECT_EQ(total.entries, total.calls + total.restarts + total.in_flight() + total.no_return);
  EXPECT_EQ(total.carried_in, 50U);
  EXPECT_EQ(total.denied, 100U);
  EXPECT_EQ(total.errors.total(), 150U);
  EXPECT_EQ(total.latency.count(), 50U);
}

TEST(Tally, IsEmptyOnlyWithoutAnyNumber) {
  Tally tally(heap());
  EXPECT_TRUE(tally.empty());
  tally.denied = 1;
  EXPECT_FALSE(tally.empty());
  tally.clear();
  EXPECT_TRUE(tally.empty());
  tally.latency.add(0);
  EXPECT_FALSE(tally.empty());
}

TEST(CallTable, IteratesInOrderOfAbiAndNumber) {
  CallTable table(heap());
  for (SyscallId id : {kWrite32, kWrite, SyscallId{Abi::x86_64, 300}, kRead}) table.at(id).entries = id.number + 1;
  std::vector<SyscallId> seen;
  for (const auto& [id, tally] : table) {
    seen.push_back(id);
    EXPECT_EQ(tally.entries, id.number + 1);
  }
  EXPECT_EQ(seen, (std::vector<SyscallId>{kRead, kWrite, {Abi::x86_64, 300}, kWrite32}));
}

TEST(CallTable, KeepsReferencesValidWhileItGrows) {
  CallTable table(heap());
  Tally& first = table.at({Abi::x86_64, 200});
  for (std::uint32_t number = 0; number < 400; ++number) table.at({Abi::x86_64, number}).entries = 1;
  first.calls = 77;
  EXPECT_EQ(table.find({Abi::x86_64, 200})->calls, 77U);
  EXPECT_EQ(table.size(), 400U);
}

TEST(CallTable, FindsOnlyWhatItHolds) {
  CallTable table(heap());
  EXPECT_EQ(table.find(kWrite), nullptr);
  table.at(kWrite).calls = 1;
  ASSERT_NE(table.find(kWrite), nullptr);
  EXPECT_EQ(table.find(kRead), nullptr);
  EXPECT_EQ(table.find(kWrite32), nullptr);
}

TEST(CallTable, MergesSyscallBySyscall) {
  CallTable left(heap());
  left.at(kRead).calls = 1;
  left.at(kWrite).errors.add(9);
  CallTable right(heap());
  right.at(kWrite).errors.add(9);
  right.at(kWrite).errors.add(5);
  right.at(kWrite32).calls = 4;
  left.merge(right);
  EXPECT_EQ(left.size(), 3U);
  EXPECT_EQ(left.find(kRead)->calls, 1U);
  EXPECT_EQ(left.find(kWrite)->errors.count(9), 2U);
  EXPECT_EQ(left.find(kWrite)->errors.count(5), 1U);
  EXPECT_EQ(left.find(kWrite32)->calls, 4U);
}

TEST(CallTable, ForgetsEveryCountWhenCleared) {
  CallTable table(heap());
  table.at(kRead).errors.add(2);
  table.at(kWrite).calls = 5;
  table.clear();
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.find(kRead), nullptr);
  EXPECT_TRUE(table.at(kWrite32).empty());
  EXPECT_TRUE(table.at(kRead).empty());
  EXPECT_EQ(table.size(), 2U);
}

TEST(CallTable, ReusesItsMemoryAfterBeingCleared) {
  std::vector<std::byte> bytes(1 << 20);
  std::pmr::monotonic_buffer_resource stretch(bytes.data(), bytes.size(), std::pmr::null_memory_resource());
  CallTable table(&stretch);
  // Without reuse 20 tallies would leave the 1 MiB after some 200 rounds, and allocating would throw.
  for (int round = 0; round < 1000; ++round) {
    for (std::uint32_t number = 0; number < 20; ++number) table.at({Abi::x86_64, number}).errors.add(2);
    table.clear();
  }
  EXPECT_TRUE(table.empty());
}

TEST(CallTable, TakesAllMemoryFromTheResourceItWasGiven) {
  std::vector<std::byte> bytes(1 << 20);
  std::pmr::monotonic_buffer_resource stretch(bytes.data(), bytes.size(), std::pmr::null_memory_resource());
  std::size_t before = test::allocation_count();
  detail::CostData data(&stretch);
  for (std::uint32_t number = 0; number < 50; ++number) {
    Tally& tally = data.table.at({Abi::x86_64, number});
    tally.latency.add(number);
    for (int error = 1; error < 10; ++error) tally.errors.add(error);
  }
  CallTable other(&stretch);
  other.merge(data.table);
  EXPECT_EQ(test::allocation_count(), before);
  EXPECT_EQ(other.size(), 50U);
}

}  // namespace
}  // namespace syscost
