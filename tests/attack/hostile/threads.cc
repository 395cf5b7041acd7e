// SPDX-License-Identifier: MIT
//
// Threads: older than the instrument, made without libc, cancelled, by the hundred; and counts beyond every table.
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "hostile.h"

namespace {

using attack::call_both;
using attack::call_raw;
using attack::run_loop;
using conformance::raw;
using conformance::spin_until;

/// A thread of a static initialiser: it is there before any instrument, where the driver asks for it.
struct Early {
  Early() {
    if (std::getenv("ATTACK_EARLY") == nullptr) return;
    std::thread([this] {
      go.wait(false);
      call_both(25);
      done = true;
      for (;;) pause();
    }).detach();
  }
  std::atomic<bool> go{false};
  std::atomic<bool> done{false};
};
Early g_early;

int g_pipe[2] = {-1, -1};

}  // namespace

HOSTILE(thread_of_a_static_initialiser, 60, "a thread that a static initialiser started makes calls") {
  if (std::getenv("ATTACK_EARLY") == nullptr) GTEST_SKIP() << "the driver asks for it";
  g_early.go = true;
  g_early.go.notify_one();
  spin_until([] { return g_early.done.load(); });
  call_both(5);
}

HOSTILE(cancels_a_reader, 10, "cancels a thread that blocks in read, and joins it") {
  ASSERT_EQ(pipe(g_pipe), 0);
  pthread_t thread{};
  static std::atomic<pid_t> reader{0};
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        reader = gettid();
        char byte = 0;
        for (;;) read(g_pipe[0], &byte, 1);
      },
      nullptr);
  spin_until([] { return reader.load() != 0; });
  attack::wait_for_state(reader, 'S');
  EXPECT_EQ(pthread_cancel(thread), 0);
  void* result = nullptr;
  pthread_join(thread, &result);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  call_both(5);
}

HOSTILE(cancels_at_any_time, 10, "cancels threads that may be cancelled anywhere, before and while they make calls") {
  static std::atomic<int> rounds{0};
  for (int i = 0; i < 20; ++i) {
    rounds = 0;
    pthread_t thread{};
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
          for (;;) {
            getpgrp();
            raw(SYS_geteuid);
            ++rounds;
          }
        },
        nullptr);
    if (i % 2 == 1) spin_until([] { return rounds.load() >= 10; });
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    EXPECT_EQ(result, PTHREAD_CANCELED);
  }
  call_both(5);
}

HOSTILE(threads_without_libc, 1000, "fifty threads made by clone alone make calls") {
  std::vector<std::unique_ptr<conformance::RawThread>> threads;
  for (int i = 0; i < 50; ++i) {
    threads.push_back(std::make_unique<conformance::RawThread>());
    ASSERT_TRUE(threads.back()->start([](void*) { call_raw(20); }, nullptr));
  }
  for (const auto& thread : threads) spin_until([&] { return thread->gone(); });
}

HOSTILE(two_hundred_threads, 2000, "two hundred threads at once make calls") {
  std::latch all_are_there{200};
  std::vector<std::thread> threads;
  for (int i = 0; i < 200; ++i) {
    threads.emplace_back([&] {
      all_are_there.arrive_and_wait();
      call_both(5);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

HOSTILE(threads_come_and_go, 2000, "five hundred threads one after another make calls") {
  for (int i = 0; i < 500; ++i) std::thread([] { call_both(2); }).join();
}

HOSTILE(threads_of_other_descriptors, 40,
        "a thread gets its own descriptor table and closes everything in it, before a loop") {
  bool has_its_own = false;
  std::thread([&] {
    has_its_own = raw(SYS_unshare, 0x400) == 0;  // CLONE_FILES
    if (!has_its_own) return;
    raw(SYS_close_range, 3, ~0U, 0);
    call_both(10);
  }).join();
  if (!has_its_own) GTEST_SKIP() << "a filter answers unshare";
  call_both(10);
  run_loop();
}

HOSTILE(smallest_thread, 20, "a thread with the smallest possible stack makes calls") {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, static_cast<std::size_t>(sysconf(_SC_THREAD_STACK_MIN)));
  pthread_t thread{};
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void*) -> void* {
                  call_both(10);
                  return nullptr;
                },
                nullptr),
            0);
  pthread_join(thread, nullptr);
}

HOSTILE(timer_threads, 10, "a timer starts threads that make other calls than getppid") {
  static std::atomic<int> fired{0};
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = [](sigval) {
    ++fired;
    fired.notify_one();
  };
  timer_t timer{};
  ASSERT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  itimerspec often = {};
  often.it_value.tv_nsec = often.it_interval.tv_nsec = 1'000'000;
  timer_settime(timer, 0, &often, nullptr);
  for (int now = fired; now < 5; now = fired) fired.wait(now);
  timer_delete(timer);
  call_both(5);
}

HOSTILE(more_syscalls_than_there_is_room, 20, "makes two hundred different syscalls, and then the expected calls") {
  for (int i = 0; i < 200; ++i) raw(100000 + i);
  call_both(10);
}

HOSTILE(calls_of_no_number, 20, "makes calls with unknown numbers: -1, 2^31, 2^62") {
  for (long number : {-1L, 0x7fffffffL, 0x80000000L, 0x4000000000000000L, 1023L, 1024L, 511L, 512L})
    raw(number, 0, 0, 0);
  call_both(10);
}

HOSTILE(thread_unmaps_its_stack, 20,
        "a thread without libc unmaps its own stack, makes a call and ends, as detached threads of musl do") {
  static std::atomic<int> tid{1};
  constexpr std::size_t kBytes = std::size_t{64} * 1024;
  char* stack = static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  constexpr long kFlags = 0x00010f00 | 0x00200000;  // CLONE_VM, FS, FILES, SIGHAND, THREAD; CLONE_CHILD_CLEARTID
  register std::atomic<int>* child_tid asm("r10") = &tid;
  register char* begin asm("r12") = stack;
  register long bytes asm("r13") = kBytes;
  long result = SYS_clone;
  asm volatile(
      "syscall\n\t"
      "test %%eax, %%eax\n\t"
      "jnz 1f\n\t"
      "mov %%r12, %%rdi\n\t"
      "mov %%r13, %%rsi\n\t"
      "mov %[munmap], %%eax\n\t"
      "syscall\n\t"
      "mov %[getegid], %%eax\n\t"
      "syscall\n\t"
      "xor %%edi, %%edi\n\t"
      "mov %[exit], %%eax\n\t"
      "syscall\n"
      "1:"
      : "+a"(result)
      : "D"(kFlags), "S"(stack + kBytes), "d"(0), "r"(child_tid), "r"(begin),
        "r"(bytes), [munmap] "i"(SYS_munmap), [getegid] "i"(SYS_getegid), [exit] "i"(SYS_exit)
      : "rcx", "r11", "memory");
  EXPECT_GT(result, 0);
  spin_until([] { return tid.load() == 0; });
  call_both(10);
}
