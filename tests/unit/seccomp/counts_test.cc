// SPDX-License-Identifier: MIT
//
// The shared memory from both sides: the test is supervisor and process at once.
#include "backends/seccomp/shared.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <unistd.h>

#include <memory>

#include "backends/seccomp/supervisor.h"
#include "os/memory.h"

namespace syscost::seccomp {
namespace {

constexpr SyscallId kWrite{Abi::x86_64, 1};
constexpr SyscallId kOpenI386{Abi::i386, 5};
constexpr SyscallId kUnlisted{Abi::x86_64, 1'000'001};
constexpr std::int32_t kThread = 77;

class Counts : public testing::Test {
 protected:
  Counts() {
    for (std::uint32_t lane = 1; lane < kLanes; ++lane) shared_->lanes[lane].control = kFollowProcess;
  }
  std::uint64_t take_entries(SyscallId id, std::uint32_t lane = 0, std::uint32_t bank = 0) {
    CallTable table(&quiet_memory());
    take(shared_->banks[lane][bank], &shared_->makers[lane][bank], nullptr, table);
    return table.at(id).entries;
  }

  std::unique_ptr<Shared, void (*)(Shared*)> shared_{map_shared(), unmap_shared};
  Counter counter_{*shared_, getpid()};
};

TEST_F(Counts, CountsNothingWhileDisarmed) {
  counter_.count_for(kThread, kWrite);
  EXPECT_EQ(take_entries(kWrite), 0U);
}

TEST_F(Counts, CountsIntoTheBankOfTheSegmentAndClearsItWhenRead) {
  shared_->lanes[0].control = make_control(1, 0);
  counter_.count_for(kThread, kWrite);
  counter_.count_for(kThread, kOpenI386);
  shared_->lanes[0].control = make_control(2, 1);
  counter_.count_for(kThread, kWrite);
  counter_.count_for(kThread, kWrite);
  EXPECT_EQ(take_entries(kWrite, 0, 0), 1U);
  EXPECT_EQ(take_entries(kWrite, 0, 0), 0U);
  EXPECT_EQ(take_entries(kWrite, 0, 1), 2U);
}

TEST_F(Counts, KeepsNumbersBeyondTheTablesApartAndLosesWhatHasNoPlace) {
  shared_->lanes[0].control = make_control(1, 0);
  for (int i = 0; i < 3; ++i) counter_.count_for(kThread, kUnlisted);
  for (std::uint32_t i = 1; i < kUnlistedNumbers + 5; ++i)
    counter_.count_for(kThread, {Abi::x86_64, kUnlisted.number + i});
  EXPECT_EQ(shared_->lost.load(), 5U);
  EXPECT_EQ(take_entries(kUnlisted), 3U);
}

TEST_F(Counts, KeepsTheNumbersOfCallsThatAreNone) {
  shared_->lanes[0].control = make_control(1, 0);
  for (const std::uint32_t number : {0xffff'fffeU, 0x8000'0000U}) {
    counter_.count({.id = 1, .thread = getpid(), .arch = AUDIT_ARCH_X86_64, .number = number});
    EXPECT_EQ(take_entries({Abi::x86_64, number}), 1U) << number;
  }
}

TEST_F(Counts, ChargesAThreadInAScopeToItsLaneUntilTheLaneFollowsTheProcess) {
  shared_->lanes[0].control = make_control(1, 0);
  shared_->lanes[3].control = make_control(2, 1);
  shared_->lane_of[kThread] = 3;
  counter_.count_for(kThread, kWrite);
  counter_.count_for(kThread + 1, kWrite);
  counter_.count_for(kThread + 1, kWrite);
  EXPECT_EQ(take_entries(kWrite, 3, 1), 1U);
  shared_->lanes[3].control = kFollowProcess;
  counter_.count_for(kThread, kWrite);
  EXPECT_EQ(take_entries(kWrite), 3U);
}

TEST_F(Counts, CountsARestartAsTheCallThatGoesOn) {
  constexpr SyscallId kClockNanosleep{Abi::x86_64, 230};
  shared_->lanes[0].control = make_control(1, 0);
  const Notification sleeps{.id = 1, .thread = getpid(), .arch = AUDIT_ARCH_X86_64, .number = kClockNanosleep.number};
  Notification restarts = sleeps;
  restarts.number = 219;
  counter_.count(sleeps);
  counter_.count(restarts);
  CallTable table(&quiet_memory());
  take(shared_->banks[0][0], &shared_->makers[0][0], nullptr, table);
  EXPECT_EQ(table.at(kClockNanosleep).entries, 2U);
  EXPECT_EQ(table.find({Abi::x86_64, 219}), nullptr);
}

TEST_F(Counts, CountsARestartAfterAnyOtherCallAsItself) {
  constexpr SyscallId kRestart{Abi::x86_64, 219};
  shared_->lanes[0].control = make_control(1, 0);
  Notification call{.id = 1, .thread = getpid(), .arch = AUDIT_ARCH_X86_64, .number = kWrite.number};
  counter_.count(call);
  call.number = kRestart.number;
  for (int i = 0; i < 3; ++i) counter_.count(call);
  CallTable table(&quiet_memory());
  take(shared_->banks[0][0], &shared_->makers[0][0], nullptr, table);
  EXPECT_EQ(table.at(kWrite).entries, 1U);
  EXPECT_EQ(table.at(kRestart).entries, 3U);
}

TEST_F(Counts, CountsNoThreadOfAnotherProcess) {
  shared_->lanes[0].control = make_control(1, 0);
  counter_.count({.id = 1, .thread = getppid(), .arch = AUDIT_ARCH_X86_64, .number = kWrite.number});
  EXPECT_EQ(take_entries(kWrite), 0U);
}

TEST_F(Counts, LeavesOutWhatTheFilterLeavesOut) {
  const auto filter = Filter::parse("write");
  ASSERT_TRUE(filter.ok());
  shared_->lanes[0].control = make_control(1, 0);
  counter_.count_for(kThread, kOpenI386);
  counter_.count_for(kThread, kUnlisted);
  counter_.count_for(kThread, kWrite);
  CallTable table(&quiet_memory());
  take(shared_->banks[0][0], &shared_->makers[0][0], filter.value().get(), table);
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table.at(kWrite).entries, 1U);
}

// The process that writes them may have given up rights that the supervisor has.
TEST_F(Counts, TrustsNoNumberInTheSharedMemory) {
  shared_->lanes[0].control = make_control(1, 0);
  shared_->lane_of[kThread] = 255;
  counter_.count_for(kThread, kWrite);
  EXPECT_EQ(take_entries(kWrite), 1U);

  shared_->banks[0][0].unlisted_used = ~std::uint64_t{0};
  counter_.count_for(kThread, kUnlisted);
  EXPECT_EQ(shared_->lost.load(), 1U);

  shared_->counts_children = true;
  shared_->programs_used = ~std::uint32_t{0};
  counter_.count({.id = 1, .thread = getppid(), .arch = AUDIT_ARCH_X86_64, .number = kWrite.number});
  EXPECT_EQ(shared_->lost.load(), 2U);
}

TEST_F(Counts, DoesNotWaitForASupervisorThatCountsNothing) {
  shared_->sequence = 6;
  EXPECT_TRUE(wait_for_supervisor(*shared_));
}

TEST_F(Counts, SaysWhenASupervisorDoesNotFinish) {
  shared_->sequence = 7;
  EXPECT_FALSE(wait_for_supervisor(*shared_));
}

}  // namespace
}  // namespace syscost::seccomp
