// SPDX-License-Identifier: MIT
//
// The scheduler's events of real threads, which wake each other only when the other one is blocked: so each wake-up is
// there, and has one waker.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "../sanitized.h"
#include "scheduler_fixture.h"

namespace syscost::ebpf {
namespace {

/// A writer wakes a reader by a pipe, a timer wakes the reader, and the reader wakes main by a futex.
struct Pipeline {
  std::atomic<int> done{0};
  std::atomic<std::uint32_t> reader_id{0};
  std::uint32_t writer_id = 0;
  std::uint32_t main_id = own_id();
  std::array<int, 2> ends{};
  std::thread reader;
  std::thread writer;

  void run() {
    reader = std::thread([this] {
      prctl(PR_SET_NAME, "reader");
      reader_id = own_id();
      char letter = 0;
      EXPECT_EQ(read(ends[0], &letter, 1), 1);
      sleep_by_the_kernel();
      await_blocked("self", main_id, SYS_futex);
      futex_wake(done);
    });
    writer = std::thread([this] {
      writer_id = own_id();
      while (reader_id == 0) sched_yield();
      await_blocked("self", reader_id, SYS_read);
      EXPECT_EQ(write(ends[1], "x", 1), 1);
    });
    futex_wait(done);
  }
  void end() {
    reader.join();
    writer.join();
    close(ends[0]);
    close(ends[1]);
  }
};

TEST_F(Scheduler, NamesWhatWokeEachThread) {
  OPEN_OR_SKIP(1U << 16);
  for (int attempt = 1;; ++attempt) {
    Pipeline pipeline;
    ASSERT_EQ(pipe(pipeline.ends.data()), 0);
    EXPECT_EQ(watch([&] { pipeline.run(); }), 0U);
    pipeline.end();
    const std::vector<SchedulerEvent> by_pipe = seen_.wakes(pipeline.reader_id, SYS_read);
    const std::vector<SchedulerEvent> by_timer = seen_.wakes(pipeline.reader_id, SYS_clock_nanosleep);
    const std::vector<SchedulerEvent> by_futex = seen_.wakes(pipeline.main_id, SYS_futex);
    const auto made = std::count_if(seen_.all.begin(), seen_.all.end(),
                                    [](const Kept& one) { return one.event.kind == Kind::created; });
    const bool is_whole = by_pipe.size() == 1 && by_timer.size() == 1 && !by_futex.empty() && made == 2;
    if (!is_whole && attempt < kAttempts) continue;
    ASSERT_TRUE(is_whole);

    EXPECT_EQ(by_pipe[0].waker, Waker::thread);
    EXPECT_EQ(by_pipe[0].waker_thread, pipeline.writer_id);
    EXPECT_EQ(by_pipe[0].waker_call, (SyscallId{Abi::x86_64, SYS_write}));
    EXPECT_EQ(by_timer[0].waker, Waker::interrupt);
    EXPECT_EQ(by_futex.back().waker, Waker::thread);
    EXPECT_EQ(by_futex.back().waker_thread, pipeline.reader_id);
    EXPECT_EQ(by_futex.back().waker_call, (SyscallId{Abi::x86_64, SYS_futex}));
    break;
  }
}

TEST_F(Scheduler, KeepsEventsInTheirOrderWithTheNamesOfThreads) {
  OPEN_OR_SKIP(1U << 16);
  const std::uint32_t main_id = own_id();
  std::atomic<std::uint32_t> other_id{0};
  bool has_name = false;
  for (int attempt = 0; attempt < kAttempts && !has_name; ++attempt) {
    watch([&] {
      std::thread([&] {
        prctl(PR_SET_NAME, "other");
        other_id = own_id();
        sleep_by_the_kernel();
      }).join();
    });
    std::uint64_t last = 0;
    for (const Kept& one : seen_.all) {
      EXPECT_GE(one.event.at_ns, last);
      last = one.event.at_ns;
      // Or of ThreadSanitizer's own thread.
      EXPECT_TRUE(one.event.thread == main_id || one.event.thread == other_id || kHasRuntimeThread);
      has_name = has_name || (one.event.thread == other_id && one.name == "other");
    }
  }
  EXPECT_TRUE(has_name);
}

TEST_F(Scheduler, AnotherProcessIsNoThread) {
  OPEN_OR_SKIP(1U << 16);
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const std::uint32_t main_id = own_id();
  receive_from_child(ends);
  close(ends[0]);
  close(ends[1]);
  const std::vector<SchedulerEvent> wakes = seen_.wakes(main_id, SYS_recvfrom);
  ASSERT_EQ(wakes.size(), 1U);
  EXPECT_EQ(wakes[0].waker, Waker::other_process);
  for (const Kept& one : seen_.all) EXPECT_EQ(one.event.thread, main_id);
}

TEST_F(Scheduler, KeepsTheFirstEventsAndCountsTheOthers) {
  constexpr std::uint32_t kRoom = 100;
  OPEN_OR_SKIP(kRoom);
  const auto sleep_often = [] {
    for (std::uint32_t i = 0; i < kRoom; ++i) sleep_by_the_kernel();
  };
  EXPECT_GT(watch(sleep_often), 0U);
  EXPECT_EQ(seen_.all.size(), kRoom);
  // The next window has all its room again.
  EXPECT_GT(watch(sleep_often), 0U);
  EXPECT_EQ(seen_.all.size(), kRoom);
}

TEST_F(Scheduler, KeepsNothingBetweenWindows) {
  OPEN_OR_SKIP(1U << 16);
  watch([] {});
  sleep_by_the_kernel();
  Collected between;
  EXPECT_EQ(backend_->extension<SchedulerTrace>()->take(between), 0U);
  EXPECT_TRUE(between.all.empty());
}

TEST_F(Scheduler, IsNotThereUnlessAskedFor) {
  OPEN_OR_SKIP(0);
  EXPECT_EQ(backend_->extension<SchedulerTrace>(), nullptr);
}

}  // namespace
}  // namespace syscost::ebpf
