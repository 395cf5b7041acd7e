// SPDX-License-Identifier: MIT
//
// The trace of the dispatch backend: the events of a window are its calls, each with what it was called with, and what
// has no room is counted.
#include "extras/trace/core/call_trace.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "backends/dispatch/stub_calls.h"
#include "traced.h"

namespace syscost::dispatch {
namespace {

INSTANTIATE_TEST_SUITE_P(Ways, TraceTest, testing::Values(Patching::allowed, Patching::never), way_name);

TEST_P(TraceTest, KeepsCallsInOrderWithArgumentsAndResults) {
  open();
  const std::vector<CallEvent> events = events_of([] {
    const int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (lseek(fd, 12, SEEK_CUR) < 0) abort();
    close(fd);
    close(-1);
  });
  ASSERT_EQ(events.size(), 4U);
  const CallEvent& opening = events[0];
  EXPECT_EQ(opening.id, (SyscallId{Abi::x86_64, SYS_openat}));
  EXPECT_EQ(opening.arguments[2], static_cast<std::uint64_t>(O_RDWR | O_CLOEXEC));
  ASSERT_EQ(opening.texts.size(), 1U);
  EXPECT_EQ(opening.texts[0].argument, 1U);
  EXPECT_EQ(opening.texts[0].text, "/dev/null");
  EXPECT_EQ(events[1].id.number, static_cast<std::uint32_t>(SYS_lseek));
  EXPECT_EQ(events[1].arguments[0], static_cast<std::uint64_t>(opening.result));
  EXPECT_EQ(events[1].arguments[1], 12U);
  EXPECT_EQ(events[3].result, -EBADF);
  for (const CallEvent& event : events) {
    EXPECT_EQ(event.thread, static_cast<std::uint32_t>(gettid()));
    EXPECT_TRUE(event.latency_ns.has_value());
  }
  EXPECT_TRUE(std::is_sorted(events.begin(), events.end(),
                             [](const CallEvent& a, const CallEvent& b) { return a.start_ns < b.start_ns; }));
}

TEST_P(TraceTest, TimesAreThoseOfTheMonotonicClock) {
  open();
  const auto now_ns = [] {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  };
  constexpr std::uint64_t kOff = 1000;  // two readings of two clocks
  const std::uint64_t before = now_ns();
  const std::vector<CallEvent> events = events_of([] { syscall(SYS_getppid); });
  ASSERT_EQ(events.size(), 1U);
  EXPECT_GE(events[0].start_ns + kOff, before);
  EXPECT_LE(events[0].start_ns + *events[0].latency_ns, now_ns() + kOff);
}

TEST_P(TraceTest, CountsWhatHasNoRoom) {
  open(100);
  const std::vector<CallEvent> events = events_of([] {
    for (int i = 0; i < 1000; ++i) syscall(SYS_getppid);
  });
  EXPECT_EQ(calls_, 1000U);
  EXPECT_GE(events.size(), 100U);
  EXPECT_GT(lost_, 0U);
  // The next window has room again.
  EXPECT_EQ(events_of([] { syscall(SYS_getppid); }).size(), 1U);
  EXPECT_EQ(lost_, 0U);
}

TEST_P(TraceTest, KeepsCallsOfThreadsThatTheWindowMakes) {
  open();
  constexpr int kThreads = 5;
  constexpr int kCalls = 100;
  std::vector<CallEvent> events = events_of([] {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([] {
        for (int call = 0; call < kCalls; ++call) syscall(SYS_getppid, call);
      });
    }
    for (std::thread& one : threads) one.join();
  });
  std::map<std::uint32_t, std::uint64_t> next;
  for (const CallEvent& event : events) {
    if (event.id.number != SYS_getppid) continue;
    EXPECT_EQ(event.arguments[0], next[event.thread]++) << "out of order in its thread";
  }
  EXPECT_EQ(next.size(), static_cast<std::size_t>(kThreads));
  for (const auto& [thread, count] : next) EXPECT_EQ(count, static_cast<std::uint64_t>(kCalls));
}

TEST_P(TraceTest, GivesEachOfTwoNestedWindowsItsCalls) {
  open();
  WindowBook::Window* outer = book_->open(Reach::process);
  syscall(SYS_getppid);
  WindowBook::Window* inner = book_->open(Reach::thread);
  syscall(SYS_getppid);
  syscall(SYS_getppid);
  detail::CostData of_inner(&quiet_memory());
  book_->close(inner, of_inner);
  syscall(SYS_getppid);
  detail::CostData of_outer(&quiet_memory());
  book_->close(outer, of_outer);
  ASSERT_TRUE(book_->pause(trace()));
  Events events;
  trace().deliver(events);
  EXPECT_EQ(events.of(*of_inner.segments()).size(), 2U);
  EXPECT_EQ(events.of(*of_outer.segments()).size(), 4U);
  EXPECT_EQ(of_inner.unkept() + of_outer.unkept(), 0U);
}

TEST_P(TraceTest, KeepsACallThatEndsInALaterSegmentOfItsWindow) {
  open();
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  WindowBook::Window* outer = book_->open(Reach::process);
  std::atomic<bool> reads{false};
  std::thread reader([&] {
    char byte = 0;
    reads = true;
    if (read(ends[0], &byte, 1) != 1) abort();
  });
  while (!reads) std::this_thread::yield();
  WindowBook::Window* inner = book_->open(Reach::process);
  if (write(ends[1], "x", 1) != 1) abort();
  reader.join();
  detail::CostData of_inner(&quiet_memory());
  book_->close(inner, of_inner);
  detail::CostData of_outer(&quiet_memory());
  book_->close(outer, of_outer);
  ASSERT_TRUE(book_->pause(trace()));
  Events events;
  trace().deliver(events);
  EXPECT_EQ(events.of(*of_inner.segments()).size() + of_inner.unkept(), calls_of(of_inner));
  EXPECT_EQ(events.of(*of_outer.segments()).size() + of_outer.unkept(), calls_of(of_outer));
  close(ends[0]);
  close(ends[1]);
}

TEST_P(TraceTest, KeepsCallsOfHandlersAndTheirReturn) {
  open();
  struct sigaction action = {};
  action.sa_handler = [](int) { syscall(SYS_getppid); };
  struct sigaction before = {};
  sigaction(SIGUSR1, &action, &before);
  const std::vector<CallEvent> events = events_of([] {
    for (int i = 0; i < 10; ++i) syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1);
  });
  sigaction(SIGUSR1, &before, nullptr);
  const auto count = [&](long number) {
    return std::count_if(events.begin(), events.end(),
                         [&](const CallEvent& event) { return event.id.number == static_cast<std::uint32_t>(number); });
  };
  EXPECT_EQ(count(SYS_getppid), 10);
  EXPECT_EQ(count(SYS_rt_sigreturn), 10);
  for (const CallEvent& event : events) {
    EXPECT_EQ(event.latency_ns.has_value(), event.id.number != static_cast<std::uint32_t>(SYS_rt_sigreturn));
  }
}

TEST_P(TraceTest, SeesForkChildrenNeitherAsEventsNorInItsMemory) {
  open();
  const std::vector<CallEvent> events = events_of([] {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < 100; ++i) syscall(SYS_getppid);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  });
  EXPECT_TRUE(std::none_of(events.begin(), events.end(), [](const CallEvent& event) {
    return event.id.number == static_cast<std::uint32_t>(SYS_getppid);
  }));
}

TEST_P(TraceTest, TouchesNoNewMemoryInAWindow) {
  open();
  rusage before{};
  rusage after{};
  // All memory for events is there: keeping them causes no fault. That for the counts comes with the first call.
  for (int i = 0; i < 4; ++i) {
    events_of([&] {
      getrusage(RUSAGE_SELF, &before);
      syscall(SYS_getppid);
    });
  }
  events_of([&] {
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < 500; ++i) syscall(SYS_getppid);
    getrusage(RUSAGE_SELF, &after);
  });
  EXPECT_EQ(after.ru_minflt - before.ru_minflt, 0);
}

TEST_P(TraceTest, GivesEachEventTheStackByWhichItsCallIsCounted) {
  opened_.emplace(GetParam(), kRoom, true);
  if (opened_->backend == nullptr || opened_->backend->extension<StackSource>() == nullptr)
    GTEST_SKIP() << "no stacks here";
  book_.emplace(*opened_->backend, quiet_memory());
  WindowBook::Window* window = book_->open(Reach::process);
  for (int i = 0; i < 7; ++i) syscall(SYS_getppid);
  for (int i = 0; i < 5; ++i) close(-1);
  detail::CostData cost(&quiet_memory());
  book_->close(window, cost);
  ASSERT_TRUE(book_->pause(trace()));
  Events events;
  trace().deliver(events);
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // a syscall and a stack
  std::map<Key, std::uint64_t> counted;
  std::map<Key, std::uint64_t> traced;
  for (const auto& [id, tally] : cost.table) {
    if (tally.calls != 0) counted[{id.number, id.detail.origin}] += tally.calls;
  }
  for (const CallEvent& event : events.of(*cost.segments())) ++traced[{event.id.number, event.id.detail.origin}];
  EXPECT_EQ(traced, counted);
  EXPECT_GE(counted.size(), 2U);
  for (const auto& [key, calls] : traced) {
    ASSERT_NE(key.second, 0U);
    EXPECT_FALSE(opened_->backend->extension<StackSource>()->frames(key.second).empty());
  }
}

TEST_P(TraceTest, KnowsTheDeviceOfAnIoctlAndTheCommandInItsArgument) {
  if (has_seccomp_filter()) GTEST_SKIP() << "no device is asked for under a seccomp filter";
  struct stat status {};
  const int ptmx = ::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (ptmx < 0 || fstat(ptmx, &status) != 0) GTEST_SKIP() << "there is no /dev/ptmx";
  const std::uint32_t device = major(status.st_rdev) << 20 | minor(status.st_rdev);
  const RequestRule rule{device, ~0U, TIOCSPTLCK, ~0U, 0, 4};
  opened_.emplace(GetParam(), kRoom, false, std::vector<RequestRule>{rule});
  ASSERT_NE(opened_->backend, nullptr);
  book_.emplace(*opened_->backend, quiet_memory());
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  const std::vector<CallEvent> events = events_of([&] {
    std::uint32_t argument[2] = {1, 77};
    int bytes = 0;
    ioctl(ptmx, TIOCSPTLCK, argument);
    ioctl(ptmx, TIOCSPTLCK, nullptr);
    ioctl(ptmx, FIONREAD, &bytes);
    ioctl(ends[0], FIONREAD, &bytes);
    ioctl(-1, FIONREAD, &bytes);
  });
  for (const int fd : {ptmx, ends[0], ends[1]}) close(fd);
  ASSERT_EQ(events.size(), 5U);
  CallDetail expected;
  expected.file = FileKind::character_device;
  expected.device = device;
  expected.request = TIOCSPTLCK;
  EXPECT_EQ(events[1].id.detail, expected) << "it failed: the argument may be unread";
  expected.has_command = true;
  expected.command = 1;
  expected.status = 77;
  EXPECT_EQ(events[0].id.detail, expected);
  expected = {};
  expected.file = FileKind::character_device;
  expected.device = device;
  expected.request = FIONREAD;
  EXPECT_EQ(events[2].id.detail, expected) << "no rule is for it";
  EXPECT_TRUE(events[3].id.detail.empty()) << "a pipe";
  EXPECT_TRUE(events[4].id.detail.empty());
}

}  // namespace
}  // namespace syscost::dispatch
