// SPDX-License-Identifier: MIT
//
// The scheduler's events of real threads, which wake each other only when the other one is blocked: so each wake-up is
// there, and has one waker. It loads the programs, and skips with the reason where it may not.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <netinet/in.h>
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
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/ebpf/ebpf_backend.h"
#include "os/quiet_memory.h"

namespace syscost::ebpf {
namespace {

using Kind = SchedulerEvent::Kind;
using Waker = SchedulerEvent::Waker;

struct Kept {
  SchedulerEvent event;
  std::string name;
};

struct Collected final : SchedulerEventSink {
  void add(const SchedulerEvent& event) override { all.push_back({event, std::string(event.name)}); }

  /// The wake-ups of a thread that was in `call`.
  std::vector<SchedulerEvent> wakes(std::uint32_t thread, std::uint32_t call) const {
    std::vector<SchedulerEvent> found;
    for (const Kept& one : all) {
      const bool is_wake = one.event.kind == Kind::woken && one.event.thread == thread;
      if (is_wake && one.event.call == SyscallId{Abi::x86_64, call}) found.push_back(one.event);
    }
    return found;
  }

  std::vector<Kept> all;
};

std::uint32_t own_id() {
  return static_cast<std::uint32_t>(gettid());
}

/// Returns when the thread is blocked in the syscall: the kernel says so.
void await_blocked(const std::string& process, std::uint32_t thread, long number) {
  const std::string path = "/proc/" + process + "/task/" + std::to_string(thread) + "/syscall";
  const std::string wanted = std::to_string(number) + " ";
  for (std::string line; !line.starts_with(wanted); sched_yield()) {
    std::ifstream file(path);
    std::getline(file, line);
  }
}

class Scheduler : public testing::Test {
 protected:
  void open_backend_for(std::uint32_t events) {
    Result<std::unique_ptr<Backend>> opened = open_backend({.scheduler_events = events});
    if (!opened.ok()) {
      ASSERT_FALSE(open_backend().ok()) << opened.failure().reason;
      GTEST_SKIP() << opened.failure().reason << "; " << opened.failure().how_to_fix;
    }
    backend_ = std::move(opened.value());
  }

  /// Keeps the events of what `body` does; returns how many found no room.
  template <class Body>
  std::uint64_t watch(Body body) {
    backend_->scheduler()->clear();
    backend_->boundary(Lane::kProcess, Next::kArm);
    body();
    backend_->boundary(Lane::kProcess, Next::kDisarm);
    CallTable thrown_away(&quiet_memory());
    backend_->read(Lane::kProcess, thrown_away);
    seen_.all.clear();
    return backend_->scheduler()->take(seen_);
  }

  std::unique_ptr<Backend> backend_;
  Collected seen_;
};

#define OPEN_OR_SKIP(events)                         \
  ASSERT_NO_FATAL_FAILURE(open_backend_for(events)); \
  if (backend_ == nullptr) return

void sleep_by_the_kernel() {
  const timespec duration{.tv_sec = 0, .tv_nsec = 100'000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nullptr);
}

void futex_wait(std::atomic<int>& word) {
  while (word.load() == 0) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
}
void futex_wake(std::atomic<int>& word) {
  word.store(1);
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

/// In a virtual machine the kernel may leave out events of its scheduler, seldom: then the threads run again.
constexpr int kAttempts = 10;

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
      EXPECT_TRUE(one.event.thread == main_id || one.event.thread == other_id);
      has_name = has_name || (one.event.thread == other_id && one.name == "other");
    }
  }
  EXPECT_TRUE(has_name);
}

TEST_F(Scheduler, AnotherProcessIsNoThread) {
  OPEN_OR_SKIP(1U << 16);
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const std::string parent = std::to_string(getpid());
  const std::uint32_t main_id = own_id();
  for (int attempt = 0; attempt < kAttempts && seen_.wakes(main_id, SYS_recvfrom).empty(); ++attempt) {
    pid_t child = 0;
    watch([&] {
      child = fork();
      if (child == 0) {
        await_blocked(parent, main_id, SYS_recvfrom);
        const ssize_t sent = send(ends[1], "x", 1, 0);
        _exit(sent == 1 ? 0 : 1);
      }
      char letter = 0;
      EXPECT_EQ(recv(ends[0], &letter, 1, 0), 1);
    });
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  close(ends[0]);
  close(ends[1]);
  const std::vector<SchedulerEvent> wakes = seen_.wakes(main_id, SYS_recvfrom);
  ASSERT_EQ(wakes.size(), 1U);
  EXPECT_EQ(wakes[0].waker, Waker::other_process);
  for (const Kept& one : seen_.all) EXPECT_EQ(one.event.thread, main_id);
}

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
TEST_F(Scheduler, ASenderOverLoopbackIsTheWaker) {
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

TEST_F(Scheduler, ASenderOverLoopbackInAnotherProcessIsNoThread) {
  OPEN_OR_SKIP(1U << 16);
  const std::array<int, 2> ends = tcp_pair();
  const std::string parent = std::to_string(getpid());
  const std::uint32_t main_id = own_id();
  for (int attempt = 0; attempt < kAttempts && seen_.wakes(main_id, SYS_recvfrom).empty(); ++attempt) {
    pid_t child = 0;
    watch([&] {
      child = fork();
      if (child == 0) {
        await_blocked(parent, main_id, SYS_recvfrom);
        _exit(send(ends[1], "x", 1, 0) == 1 ? 0 : 1);
      }
      char letter = 0;
      EXPECT_EQ(recv(ends[0], &letter, 1, 0), 1);
    });
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const std::vector<SchedulerEvent> wakes = seen_.wakes(main_id, SYS_recvfrom);
  ASSERT_EQ(wakes.size(), 1U);
  EXPECT_EQ(wakes[0].waker, Waker::other_process);
  close(ends[0]);
  close(ends[1]);
}

// It has sent a packet before; a timer that finds it later is no act of it.
TEST_F(Scheduler, AThreadThatSendsAndIsInterruptedIsNoWakerOfSleepers) {
  OPEN_OR_SKIP(1U << 16);
  std::atomic<bool> stop{false};
  std::vector<std::thread> sending;
  for (unsigned i = 0; i < std::thread::hardware_concurrency() + 1; ++i) {
    sending.emplace_back([&] {
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
  const std::uint32_t main_id = own_id();
  watch([&] {
    for (int i = 0; i < 200; ++i) sleep_by_the_kernel();
  });
  stop = true;
  for (std::thread& one : sending) one.join();
  const std::vector<SchedulerEvent> wakes = seen_.wakes(main_id, SYS_clock_nanosleep);
  EXPECT_FALSE(wakes.empty());
  for (const SchedulerEvent& wake : wakes) EXPECT_EQ(wake.waker, Waker::interrupt);
}

// A thread that spins is what a timer finds when it wakes another one.
TEST_F(Scheduler, AThreadThatATimerInterruptsIsNoWaker) {
  OPEN_OR_SKIP(1U << 16);
  std::atomic<bool> stop{false};
  std::vector<std::thread> spinning;
  for (unsigned i = 0; i < std::thread::hardware_concurrency() + 1; ++i) {
    spinning.emplace_back([&] {
      while (!stop) {
      }
    });
  }
  const std::uint32_t main_id = own_id();
  watch([&] {
    for (int i = 0; i < 20; ++i) sleep_by_the_kernel();
  });
  stop = true;
  for (std::thread& one : spinning) one.join();
  const std::vector<SchedulerEvent> wakes = seen_.wakes(main_id, SYS_clock_nanosleep);
  EXPECT_FALSE(wakes.empty());
  for (const SchedulerEvent& wake : wakes) EXPECT_EQ(wake.waker, Waker::interrupt);
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
  EXPECT_EQ(backend_->scheduler()->take(between), 0U);
  EXPECT_TRUE(between.all.empty());
}

TEST_F(Scheduler, IsNotThereUnlessAskedFor) {
  OPEN_OR_SKIP(0);
  EXPECT_EQ(backend_->scheduler(), nullptr);
}

}  // namespace
}  // namespace syscost::ebpf
