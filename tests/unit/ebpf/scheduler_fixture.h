// SPDX-License-Identifier: MIT
//
// Scheduler: an ebpf backend that keeps the scheduler's events of a stretch of code. It loads the programs, and skips
// with the reason where it may not.
#pragma once

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/ebpf/ebpf_backend.h"
#include "extras/scheduler/core/scheduler_trace.h"
#include "os/memory.h"

namespace syscost::ebpf {

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

inline std::uint32_t own_id() {
  return static_cast<std::uint32_t>(gettid());
}

/// Returns when the thread is blocked in the syscall: the kernel says so.
inline void await_blocked(const std::string& process, std::uint32_t thread, long number) {
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
    Result<std::unique_ptr<Backend>> opened = open_backend(BackendRequest().add(SchedulerWish{events}));
    if (!opened.ok()) {
      ASSERT_FALSE(open_backend().ok()) << opened.failure().reason;
      GTEST_SKIP() << opened.failure().reason << "; " << opened.failure().how_to_fix;
    }
    backend_ = std::move(opened.value());
  }

  /// Keeps the events of what `body` does; returns how many found no room.
  template <class Body>
  std::uint64_t watch(Body body) {
    backend_->extension<SchedulerTrace>()->clear();
    backend_->boundary(Lane::kProcess, Next::kArm);
    body();
    backend_->boundary(Lane::kProcess, Next::kDisarm);
    CallTable thrown_away(&quiet_memory());
    backend_->read(Lane::kProcess, thrown_away);
    seen_.all.clear();
    return backend_->extension<SchedulerTrace>()->take(seen_);
  }

  /// This thread receives at ends[0] what a child process sends at ends[1], until the wake-up was seen.
  void receive_from_child(const std::array<int, 2>& ends);

  std::unique_ptr<Backend> backend_;
  Collected seen_;
};

#define OPEN_OR_SKIP(events)                         \
  ASSERT_NO_FATAL_FAILURE(open_backend_for(events)); \
  if (backend_ == nullptr) return

inline void sleep_by_the_kernel() {
  const timespec duration{.tv_sec = 0, .tv_nsec = 100'000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nullptr);
}

inline void futex_wait(std::atomic<int>& word) {
  while (word.load() == 0) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
}
inline void futex_wake(std::atomic<int>& word) {
  word.store(1);
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

/// In a virtual machine the kernel may leave out events of its scheduler, seldom: then the threads run again.
inline constexpr int kAttempts = 10;

inline void Scheduler::receive_from_child(const std::array<int, 2>& ends) {
  const std::string parent = std::to_string(getpid());
  const std::uint32_t receiver = own_id();
  for (int attempt = 0; attempt < kAttempts && seen_.wakes(receiver, SYS_recvfrom).empty(); ++attempt) {
    pid_t child = 0;
    watch([&] {
      child = fork();
      if (child == 0) {
        await_blocked(parent, receiver, SYS_recvfrom);
        _exit(send(ends[1], "x", 1, 0) == 1 ? 0 : 1);
      }
      char letter = 0;
      EXPECT_EQ(recv(ends[0], &letter, 1, 0), 1);
    });
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

}  // namespace syscost::ebpf
