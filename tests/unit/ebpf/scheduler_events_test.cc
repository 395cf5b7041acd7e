// SPDX-License-Identifier: MIT
//
// SchedulerEvents reads shared memory; here the test plays the programs' part and writes it.
#include "extras/scheduler/ebpf/scheduler_events.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace syscost::ebpf {
namespace {

struct Collected final : SchedulerEventSink {
  void add(const SchedulerEvent& event) override {
    threads.push_back(event.thread);
    last = event;
    name = event.name;
  }
  std::vector<std::uint32_t> threads;
  SchedulerEvent last;
  std::string name;
};

class SchedulerEventsTest : public testing::Test {
 protected:
  static constexpr std::size_t kRoom = 3;

  /// As a program does it. Null if there was no room.
  syscost_scheduler_event* write(std::uint64_t at_ns, std::uint32_t thread, std::uint32_t thread_id) {
    syscost_scheduler_head& head = memory_[0].head;
    const std::uint64_t index = head.produced++;
    if (index - head.consumed >= kRoom) return nullptr;
    syscost_scheduler_event& event = memory_[1 + index - head.consumed].event;
    event = {};
    event.at_ns = at_ns;
    event.thread = thread;
    event.thread_id = thread_id;
    event.kind = SYSCOST_THREAD_RUNS;
    event.syscall = event.waker_syscall = SYSCOST_NO_SYSCALL;
    event.sequence = index + 1;
    return &event;
  }

  std::vector<syscost_scheduler_block> memory_{1 + kRoom};
  SchedulerEvents events_{memory_, ForkDetector()};
  Collected seen_;
};

TEST_F(SchedulerEventsTest, ComeInTheOrderOfTheirTimes) {
  write(30, 3, 3);
  write(10, 1, 1);
  write(20, 2, 2);
  EXPECT_EQ(events_.take(seen_), 0U);
  EXPECT_EQ(seen_.threads, (std::vector<std::uint32_t>{1, 2, 3}));
}

TEST_F(SchedulerEventsTest, BeyondTheRoomTheyAreCounted) {
  for (std::uint32_t i = 1; i <= 5; ++i) write(i, i, i);
  EXPECT_EQ(events_.take(seen_), 2U);
  EXPECT_EQ(seen_.threads.size(), kRoom);
  // Then there is room again.
  write(9, 9, 9);
  seen_.threads.clear();
  EXPECT_EQ(events_.take(seen_), 0U);
  EXPECT_EQ(seen_.threads, std::vector<std::uint32_t>{9});
}

TEST_F(SchedulerEventsTest, AnEventThatIsNotWholeIsCountedAsMissing) {
  write(1, 1, 1);
  write(2, 2, 2)->sequence = 0;
  EXPECT_EQ(events_.take(seen_), 1U);
  EXPECT_EQ(seen_.threads, std::vector<std::uint32_t>{1});
}

TEST_F(SchedulerEventsTest, ClearForgetsThem) {
  write(1, 1, 1);
  events_.clear();
  EXPECT_EQ(events_.take(seen_), 0U);
  EXPECT_TRUE(seen_.threads.empty());
}

TEST_F(SchedulerEventsTest, AThreadThatEndedHasTheIdOfItsOtherEvents) {
  write(1, 500, 5);
  write(2, 500, 0);
  EXPECT_EQ(events_.take(seen_), 0U);
  EXPECT_EQ(seen_.threads, (std::vector<std::uint32_t>{5, 5}));
}

TEST_F(SchedulerEventsTest, WakersAreNamedAsTheirProcessNamesThem) {
  syscost_scheduler_event& event = *write(1, 500, 5);
  event.kind = SYSCOST_THREAD_WOKEN;
  event.waker_kind = SYSCOST_WAKER_THREAD;
  event.waker = 600;
  event.waker_id = 6;
  event.syscall = SYSCOST_SHORT_SYSCALL(0, 202);
  event.waker_syscall = SYSCOST_SHORT_SYSCALL(1, 4);
  std::memset(event.name, 'n', sizeof event.name);  // without a 0 at the end
  EXPECT_EQ(events_.take(seen_), 0U);
  EXPECT_EQ(seen_.last.waker, SchedulerEvent::Waker::thread);
  EXPECT_EQ(seen_.last.waker_thread, 6U);
  EXPECT_EQ(seen_.last.call, (SyscallId{Abi::x86_64, 202}));
  EXPECT_EQ(seen_.last.waker_call, (SyscallId{Abi::i386, 4}));
  EXPECT_EQ(seen_.name, std::string(16, 'n'));
}

TEST_F(SchedulerEventsTest, ASyscallBeyondTheTablesIsUnknown) {
  write(1, 1, 1)->syscall = SYSCOST_SHORT_UNKNOWN;
  EXPECT_EQ(events_.take(seen_), 0U);
  EXPECT_EQ(seen_.last.call, kUnknownSyscall);
}

}  // namespace
}  // namespace syscost::ebpf
