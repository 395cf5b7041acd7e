// SPDX-License-Identifier: MIT
//
// The bpftrace profiler with the real bpftrace: what it counts must be what was called, to the last call. Needs root
// and bpftrace.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <future>
#include <latch>
#include <thread>
#include <vector>

#include "../sanitized.h"
#include "traced.h"

namespace syscost::profilers {
namespace {

class Bpftrace : public TracedTest {};

void expect_exactly(const SyscallFigures& figures, std::uint64_t count) {
  EXPECT_EQ(figures.entries, count);
  EXPECT_EQ(figures.returned, count);
  std::uint64_t in_buckets = 0;
  for (const LatencyBucket& bucket : figures.latency) in_buckets += bucket.count;
  EXPECT_EQ(in_buckets, count);
}

TEST_F(Bpftrace, CountsEveryOneOfHalfAMillionWrites) {
  if (!attach("syslat")) return;
  profiler_->arm();
  write_times(512'000);
  profiler_->disarm();
  write_times(100);
  const SyscallFigures writes = detach_and_find(SYS_write);
  expect_exactly(writes, 512'000);
  EXPECT_TRUE(writes.has_errors);
  EXPECT_TRUE(writes.errors.empty());
  EXPECT_LE(*writes.latency_min_ns * 512'000, *writes.latency_sum_ns);
  EXPECT_GE(*writes.latency_max_ns * 512'000, *writes.latency_sum_ns);
}

TEST_F(Bpftrace, CountsFiveHundredWritesAndNothingElse) {
  if (!attach("syslat")) return;
  write_times(100);
  profiler_->arm();
  write_times(500);
  profiler_->disarm();
  expect_exactly(detach_and_find(SYS_write), 500);
  EXPECT_EQ(output_.syscalls.size(), 1U) << "the handshake is in the window:\n" << output_.summary;
}

TEST_F(Bpftrace, CountsAWindowThatIsOverInLessThanAMillisecond) {
  if (!attach("syslat")) return;
  profiler_->arm();
  write_times(1);
  profiler_->disarm();
  expect_exactly(detach_and_find(SYS_write), 1);
  EXPECT_EQ(output_.syscalls.size(), 1U) << output_.summary;
}

TEST_F(Bpftrace, AddsUpTheWindowsThatAreOpenedWhileItIsAttached) {
  if (!attach("syslat")) return;
  for (int i = 0; i < 10; ++i) {
    profiler_->arm();
    write_times(3);
    profiler_->disarm();
    write_times(5);
  }
  expect_exactly(detach_and_find(SYS_write), 30);
}

TEST_F(Bpftrace, CountsTheCallsOfSixteenThreads) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer warns of its stacks when threads begin, by writes that count";
  if (!attach("syslat")) return;
  constexpr int kThreads = 16;
  std::latch begin(kThreads + 1), end(kThreads + 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      begin.arrive_and_wait();
      write_times(10'000);
      end.arrive_and_wait();
    });
  }
  profiler_->arm();
  begin.arrive_and_wait();
  end.arrive_and_wait();
  profiler_->disarm();
  for (std::thread& thread : threads) thread.join();
  expect_exactly(detach_and_find(SYS_write), 160'000);
}

TEST_F(Bpftrace, CountsTheParentOfATestThatForksAndNotTheChild) {
  if (!attach("syslat")) return;
  profiler_->arm();
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      write_times(1'000);
      _exit(0);
    }
    write_times(50);
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
  }
  profiler_->disarm();
  expect_exactly(detach_and_find(SYS_write), 1'000);
}

TEST_F(Bpftrace, CountsErrorsByErrno) {
  if (!attach("syslat")) return;
  profiler_->arm();
  for (int i = 0; i < 7; ++i) syscall(SYS_write, -1, "x", 1);
  for (int i = 0; i < 3; ++i) syscall(SYS_write, out_, nullptr, -1);
  profiler_->disarm();
  const SyscallFigures writes = detach_and_find(SYS_write);
  expect_exactly(writes, 10);
  ASSERT_FALSE(writes.errors.empty());
  EXPECT_EQ(writes.errors.front(), (std::pair<int, std::uint64_t>(EBADF, 7)));
}

/// Returns when thread `tid` of this process is inside syscall `number`.
void wait_until_inside(pid_t tid, int number) {
  const std::string path = "/proc/self/task/" + std::to_string(tid) + "/syscall";
  for (int inside = -1; inside != number;) {
    std::ifstream(path) >> inside;
    std::this_thread::yield();
  }
}

TEST_F(Bpftrace, CountsACallThatHasNotReturnedAsEnteredOnly) {
  if (!attach("syslat")) return;
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  std::promise<pid_t> tid;
  profiler_->arm();
  std::thread reader([&] {
    tid.set_value(gettid());
    char byte = 0;
    EXPECT_EQ(recv(ends[0], &byte, 1, 0), 1);
  });
  wait_until_inside(tid.get_future().get(), SYS_recvfrom);
  profiler_->disarm();
  ASSERT_EQ(send(ends[1], "x", 1, 0), 1);
  reader.join();
  const SyscallFigures receives = detach_and_find(SYS_recvfrom);
  EXPECT_EQ(receives.entries, 1U);
  EXPECT_EQ(receives.returned, 0U);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(Bpftrace, LeavesNoChild) {
  if (!attach("syslat")) return;
  errno = 0;
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "wait() must see what it would see without us";
  EXPECT_EQ(errno, ECHILD);
  ASSERT_TRUE(detach());
  errno = 0;
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(Bpftrace, ChecksItselfWithKnownCalls) {
  if (!attach("syslat")) return;
  ASSERT_TRUE(detach());
  const Result<void> checked = profiler_->check();
  EXPECT_TRUE(checked.ok()) << checked.failure().reason;
}

}  // namespace
}  // namespace syscost::profilers
