// SPDX-License-Identifier: MIT
//
// Wake-ups by packets over loopback, and by timers: the sender of a packet is the waker, a thread that a timer
// interrupts is none.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "scheduler_fixture.h"

namespace syscost::ebpf {
namespace {

class SchedulerWakers : public Scheduler {
 protected:
  void expect_interrupts(int times, void (*work)(const std::atomic<bool>& stop));
};

/// Two ends of a TCP connection over loopback.
std::array<int, 2> tcp_pair() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(listen(listener, 1), 0);
  EXPECT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(connect(client, reinterpret_cast<const sockaddr*>(&address), size), 0);
  const int server = accept(listener, nullptr, nullptr);
  close(listener);
  return {server, client};
}

// The kernel delivers the packet in a softirq, in the middle of the sender's call.
TEST_F(SchedulerWakers, ASenderOverLoopbackIsTheWaker) {
  OPEN_OR_SKIP(1U << 16);
  const std::array<int, 2> ends = tcp_pair();
  const std::uint32_t main_id = own_id();
  std::atomic<std::uint32_t> sender_id{0};
  for (int attempt = 0; attempt < kAttempts && seen_.wakes(main_id, SYS_recvfrom).empty(); ++attempt) {
    std::thread sender;
    watch([&] {
      sender = std::thread([&] {
        sender_id = own_id();
        await_blocked("self", main_id, SYS_recvfrom);
        EXPECT_EQ(send(ends[1], "x", 1, 0), 1);
      });
      char letter = 0;
      EXPECT_EQ(recv(ends[0], &letter, 1, 0), 1);
    });
    sender.join();
  }
  const std::vector<SchedulerEvent> wakes = seen_.wakes(main_id, SYS_recvfrom);
  ASSERT_EQ(wakes.size(), 1U);
  EXPECT_EQ(wakes[0].waker, Waker::thread);
  EXPECT_EQ(wakes[0].waker_thread, sender_id);
  EXPECT_EQ(wakes[0].waker_call, (SyscallId{Abi::x86_64, SYS_sendto}));
  close(ends[0]);
  close(ends[1]);
}

TEST_F(SchedulerWakers, ASenderOverLoopbackInAnotherProcessIsNoThread) {
  OPEN_OR_SKIP(1U << 16);
  const std::array<int, 2> ends = tcp_pair();
  receive_from_child(ends);
  const std::vector<SchedulerEvent> wakes = seen_.wakes(own_id(), SYS_recvfrom);
  ASSERT_EQ(wakes.size(), 1U);
  EXPECT_EQ(wakes[0].waker, Waker::other_process);
  close(ends[0]);
  close(ends[1]);
}

/// What woke this thread when it slept `times` times, beside threads on every CPU that do `work` until `stop`.
void SchedulerWakers::expect_interrupts(int times, void (*work)(const std::atomic<bool>& stop)) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> working;
  for (unsigned i = 0; i < std::thread::hardware_concurrency() + 1; ++i) {
    working.emplace_back([&] { work(stop); });
  }
  const std::uint32_t main_id = own_id();
  watch([&] {
    for (int i = 0; i < times; ++i) sleep_by_the_kernel();
  });
  stop = true;
  for (std::thread& one : working) one.join();
  const std::vector<SchedulerEvent> wakes = seen_.wakes(main_id, SYS_clock_nanosleep);
  EXPECT_FALSE(wakes.empty());
  for (const SchedulerEvent& wake : wakes) EXPECT_EQ(wake.waker, Waker::interrupt);
}

// It has sent a packet before; a timer that finds it later is no act of it.
TEST_F(SchedulerWakers, AThreadThatSendsAndIsInterruptedIsNoWakerOfSleepers) {
  OPEN_OR_SKIP(1U << 16);
  expect_interrupts(200, [](const std::atomic<bool>& stop) {
    const std::array<int, 2> ends = tcp_pair();
    char letter = 'x';
    while (!stop) {
      EXPECT_EQ(send(ends[1], &letter, 1, 0), 1);
      EXPECT_EQ(recv(ends[0], &letter, 1, 0), 1);
    }
    close(ends[0]);
    close(ends[1]);
  });
}

// A thread that spins is what a timer finds when it wakes another one.
TEST_F(SchedulerWakers, AThreadThatATimerInterruptsIsNoWaker) {
  OPEN_OR_SKIP(1U << 16);
  expect_interrupts(20, [](const std::atomic<bool>& stop) {
    while (!stop) {
    }
  });
}

}  // namespace
}  // namespace syscost::ebpf
