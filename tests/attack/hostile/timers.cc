// SPDX-License-Identifier: MIT
//
// Fast timers: a signal comes at any instruction, also on the way through what counts a call, and its handler does
// much.
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>
#include <vector>

#include "hostile.h"

namespace {

using attack::call_both;
using attack::call_libc;
using attack::call_raw;
using conformance::raw;

constexpr std::size_t kStackBytes = std::size_t{64} * 1024;

/// While a context is left for another one the signal waits: its handler would leave it twice.
void change_mask(int how, int signal) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(how, &only, nullptr);
}

/// SIGALRM again and again. The handler asks for the next one, so that each leaves time for the calls it interrupts,
/// however slow the machine is.
class Alarms {
 public:
  explicit Alarms(void (*handler)(int)) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    next();
  }
  ~Alarms() {
    signal(SIGALRM, SIG_IGN);
    const itimerval never = {};
    setitimer(ITIMER_REAL, &never, nullptr);
  }
  Alarms(const Alarms&) = delete;
  Alarms& operator=(const Alarms&) = delete;

  static void next() {
    const itimerval once = {{0, 0}, {0, 100}};
    raw(SYS_setitimer, ITIMER_REAL, &once, nullptr);
  }
};

/// A coroutine that has not begun.
void prepare(ucontext_t& context, std::vector<char>& stack, void (*body)()) {
  stack.assign(kStackBytes, '\0');
  getcontext(&context);
  context.uc_stack.ss_sp = stack.data();
  context.uc_stack.ss_size = stack.size();
  makecontext(&context, body, 0);
}

}  // namespace

HOSTILE(looked_back_from_at_any_time, 22000, "a timer's handler calls backtrace(), wherever it interrupts calls") {
  static std::array<void*, 64> frames;
  static std::atomic<int> shallow{0};
  backtrace(frames.data(), frames.size());  // loads the unwinder
  {
    const Alarms alarms([](int) {
      if (backtrace(frames.data(), frames.size()) < 6) ++shallow;
      Alarms::next();
    });
    call_libc(20000);
    call_raw(2000);
  }
  EXPECT_EQ(shallow, 0);
}

HOSTILE(preempted_coroutines, 8000, "a timer switches between two coroutines, which make calls") {
  static std::array<ucontext_t, 3> contexts;  // the last one is the test's
  static std::array<std::vector<char>, 2> stacks;
  static std::atomic<int> done{0};
  static std::size_t current;
  change_mask(SIG_BLOCK, SIGALRM);
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    prepare(contexts[i], stacks[i], [] {
      change_mask(SIG_UNBLOCK, SIGALRM);
      call_both(2000);
      ++done;
      while (done < 2) raw(SYS_sched_yield);
      change_mask(SIG_BLOCK, SIGALRM);
      setcontext(&contexts[2]);
    });
  }
  const Alarms alarms([](int) {
    Alarms::next();
    const std::size_t from = current;
    current = 1 - current;
    swapcontext(&contexts[from], &contexts[current]);
  });
  swapcontext(&contexts[2], &contexts[0]);
}

HOSTILE(coroutine_that_migrates, 8000, "a timer interrupts a coroutine in its calls, and another thread continues it") {
  static ucontext_t of_coroutine;
  static std::array<ucontext_t, 2> of_thread;
  static std::vector<char> stack;
  static std::atomic<std::size_t> turn{0};
  static std::atomic<bool> done{false};
  change_mask(SIG_BLOCK, SIGUSR1);
  prepare(of_coroutine, stack, [] {
    change_mask(SIG_UNBLOCK, SIGUSR1);
    call_both(4000);
    change_mask(SIG_BLOCK, SIGUSR1);
    done = true;
    setcontext(&of_thread[turn]);
  });
  struct sigaction action = {};
  action.sa_handler = [](int) { swapcontext(&of_coroutine, &of_thread[turn]); };
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  auto run = [](std::size_t self) {
    sigset_t usr1;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    while (!done) {
      if (turn != self) {
        raw(SYS_sched_yield);
        continue;
      }
      sigevent event = {};
      event.sigev_notify = SIGEV_THREAD_ID;
      event.sigev_signo = SIGUSR1;
      event._sigev_un._tid = gettid();
      timer_t timer{};
      timer_create(CLOCK_MONOTONIC, &event, &timer);
      const itimerspec once = {{0, 0}, {0, 200'000}};
      timer_settime(timer, 0, &once, nullptr);
      swapcontext(&of_thread[self], &of_coroutine);
      timer_delete(timer);
      const timespec at_once = {};
      while (sigtimedwait(&usr1, nullptr, &at_once) > 0) {
      }
      turn = 1 - self;
    }
  };
  std::thread other(run, 1);
  run(0);
  other.join();
}

HOSTILE(forks_at_any_time, 4000, "a timer's handler forks, vforks and spawns, wherever it interrupts calls") {
  static std::atomic<int> times{0};
  const Alarms alarms([](int) {
    const int before = errno;
    pid_t child = -1;
    const int kind = times++ % 3;
    if (kind == 0) {
      child = fork();
      if (child == 0) {
        call_both(1);
        _exit(0);
      }
    } else if (kind == 1) {
      child = vfork();
      if (child == 0) _exit(0);
    } else {
      char name[] = "true";
      char* arguments[] = {static_cast<char*>(name), nullptr};
      posix_spawnp(&child, static_cast<char*>(name), nullptr, nullptr, static_cast<char**>(arguments), environ);
    }
    if (child > 0) waitpid(child, nullptr, 0);
    errno = before;
    if (times < 30) Alarms::next();
  });
  for (int i = 0; i < 20; ++i) {
    call_both(100);
    for (const int before = times; times == before && times < 30;) getpgrp();
  }
}

HOSTILE(cancelled_between_alarms, 10, "threads that a timer interrupts are cancelled anywhere") {
  const Alarms alarms([](int) {
    raw(SYS_geteuid);
    getuid();
    Alarms::next();
  });
  static std::atomic<bool> runs{false};
  for (int i = 0; i < 20; ++i) {
    runs = false;
    pthread_t thread{};
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
          runs = true;
          for (;;) {
            getpgrp();
            raw(SYS_geteuid);
          }
        },
        nullptr);
    while (!runs) getpgrp();
    for (int k = 0; k < i * 10; ++k) getpgrp();
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    EXPECT_EQ(result, PTHREAD_CANCELED);
  }
  call_both(5);
}

HOSTILE(process_shares_handlers, 2000,
        "a process that shares the test's memory and handlers gets signals while both make calls") {
  char* stack =
      static_cast<char*>(mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const Alarms alarms([](int) {
    raw(SYS_geteuid);
    Alarms::next();
  });
  const int child = clone(
      [](void*) -> int {
        Alarms::next();
        for (int i = 0; i < 1000; ++i) call_raw(1);
        const itimerval never = {};
        raw(SYS_setitimer, ITIMER_REAL, &never, nullptr);
        return 0;
      },
      stack + kStackBytes, CLONE_VM | CLONE_SIGHAND | CLONE_FS | CLONE_FILES | SIGCHLD, nullptr);
  ASSERT_GT(child, 0);
  call_both(1000);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  munmap(stack, kStackBytes);
}
