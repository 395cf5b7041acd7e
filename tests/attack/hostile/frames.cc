// SPDX-License-Identifier: MIT
//
// Frames of signals: a handler may change what it returns to, leave by another way, or find its stack where it put it.
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "hostile.h"

namespace {

using attack::call_both;
using attack::call_raw;
using conformance::raw;

constexpr std::size_t kStackBytes = std::size_t{64} * 1024;
sigjmp_buf g_jump;
std::vector<char> g_stack;

void handle(int signal, void (*handler)(int, siginfo_t*, void*), int flags = 0) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigaction(signal, &action, nullptr);
}

void set_signal_stack() {
  g_stack.assign(kStackBytes, '\0');
  stack_t stack = {};
  stack.ss_sp = g_stack.data();
  stack.ss_size = g_stack.size();
  ASSERT_EQ(sigaltstack(&stack, nullptr), 0);
}

void disable_signal_stack() {
  stack_t stack = {};
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
}

// Recurses until it faults below the end of the stack.
__attribute__((noinline)) int recurse(int depth) {
  char room[1024];
  asm volatile("" ::"r"(room), "r"(&depth) : "memory");
  return depth < 0 ? 0 : recurse(depth + 1) + room[0];
}

}  // namespace

HOSTILE(handler_changes_the_mask, 12,
        "a handler changes the context it returns to, so that a signal is blocked afterwards") {
  handle(SIGUSR1, [](int, siginfo_t*, void* context) {
    sigaddset(&static_cast<ucontext_t*>(context)->uc_sigmask, SIGUSR2);
    call_raw(2);
  });
  raise(SIGUSR1);
  sigset_t now;
  sigprocmask(SIG_SETMASK, nullptr, &now);
  EXPECT_EQ(sigismember(&now, SIGUSR2), 1);
  call_both(5);
}

HOSTILE(handler_changes_vectors, 10, "a handler changes a vector register of the context it returns to") {
  handle(SIGILL, [](int, siginfo_t*, void* context) {
    auto* machine = &static_cast<ucontext_t*>(context)->uc_mcontext;
    machine->gregs[REG_RIP] += 2;
    machine->fpregs->_xmm[3].element[0] = 4711;
  });
  std::uint64_t found = 0;
  asm volatile("pxor %%xmm3, %%xmm3\n\tud2\n\tmovq %%xmm3, %0" : "=r"(found)::"xmm3", "memory");
  EXPECT_EQ(found, 4711U);
  call_both(5);
}

HOSTILE(survives_stack_overflow, 16,
        "overflows its stack three times, and leaves the handler on its signal stack by siglongjmp") {
  std::thread([] {
    std::vector<char> memory(kStackBytes);
    stack_t stack = {};
    stack.ss_sp = memory.data();
    stack.ss_size = memory.size();
    ASSERT_EQ(sigaltstack(&stack, nullptr), 0);
    handle(
        SIGSEGV,
        [](int, siginfo_t*, void*) {
          call_raw(2);
          siglongjmp(g_jump, 1);
        },
        SA_ONSTACK);
    static int times = 0;
    for (times = 0; times < 3; ++times) {
      if (sigsetjmp(g_jump, 1) == 0) recurse(0);
    }
    disable_signal_stack();
  }).join();
  signal(SIGSEGV, SIG_DFL);
  call_both(5);
}

HOSTILE(handler_sees_its_stack, 10,
        "a handler on a signal stack sees that stack in its context, and cannot change it meanwhile") {
  set_signal_stack();
  static stack_t in_context;
  static stack_t asked;
  static int changed = 0;
  handle(
      SIGUSR1,
      [](int, siginfo_t*, void* context) {
        in_context = static_cast<ucontext_t*>(context)->uc_stack;
        stack_t other = {};
        other.ss_flags = SS_DISABLE;
        sigaltstack(nullptr, &asked);
        changed = sigaltstack(&other, nullptr) == 0 ? 1 : -errno;
      },
      SA_ONSTACK);
  raise(SIGUSR1);
  EXPECT_EQ(in_context.ss_sp, g_stack.data());
  EXPECT_EQ(in_context.ss_size, g_stack.size());
  EXPECT_EQ(asked.ss_flags, SS_ONSTACK);
  EXPECT_EQ(changed, -EPERM);
  call_both(5);
  disable_signal_stack();
}

HOSTILE(handler_switches_contexts, 2000,
        "a handler switches to another coroutine, which switches back, five hundred times") {
  static ucontext_t of_test;
  static ucontext_t of_coroutine;
  static std::vector<char> memory;
  memory.assign(kStackBytes, '\0');
  getcontext(&of_coroutine);
  of_coroutine.uc_stack.ss_sp = memory.data();
  of_coroutine.uc_stack.ss_size = memory.size();
  makecontext(
      &of_coroutine,
      [] {
        for (;;) {
          call_both(1);
          swapcontext(&of_coroutine, &of_test);
        }
      },
      0);
  handle(SIGUSR1, [](int, siginfo_t*, void*) { swapcontext(&of_test, &of_coroutine); });
  for (int i = 0; i < 500; ++i) {
    raise(SIGUSR1);
    call_both(1);
  }
}

HOSTILE(handler_leaves_by_setcontext, 1000,
        "a handler returns by setcontext to an earlier context, five hundred times") {
  static ucontext_t before;
  static volatile int round;
  handle(
      SIGUSR1, [](int, siginfo_t*, void*) { setcontext(&before); }, SA_NODEFER);
  round = 0;
  getcontext(&before);
  if (round < 500) {
    round = round + 1;
    call_both(1);
    raise(SIGUSR1);
  }
}

HOSTILE(own_restorer, 14, "sets an action with its own restorer, as runtimes without libc do") {
  struct KernelAction {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    std::uint64_t mask;
  };
  void (*restorer)() = nullptr;
  asm volatile(
      "lea 1f(%%rip), %0\n\t"
      "jmp 2f\n"
      "1: mov $15, %%eax\n\t"
      "syscall\n"
      "2:"
      : "=r"(restorer));
  const KernelAction action = {[](int) { call_raw(2); }, 0x04000000UL, restorer, 0};
  ASSERT_EQ(raw(SYS_rt_sigaction, SIGUSR1, &action, nullptr, 8), 0);
  raise(SIGUSR1);
  raise(SIGUSR1);
  KernelAction seen = {};
  EXPECT_EQ(raw(SYS_rt_sigaction, SIGUSR1, nullptr, &seen, 8), 0);
  EXPECT_EQ(seen.restorer, restorer);
  call_both(5);
}

HOSTILE(handler_forks, 20, "a handler forks, and the child makes calls, returns from the handler and ends") {
  static std::atomic<pid_t> child{-1};
  handle(SIGUSR1, [](int, siginfo_t*, void*) { child = fork(); });
  raise(SIGUSR1);
  if (child == 0) {
    call_both(5);
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  call_both(10);
}

HOSTILE(sampled_by_a_timer, 4000, "a profiler's timer interrupts two threads all the time while they make calls") {
  static std::atomic<int> samples{0};
  handle(
      SIGPROF,
      [](int, siginfo_t*, void*) {
        ++samples;
        raw(SYS_geteuid);
      },
      SA_RESTART);
  itimerval often = {};
  often.it_interval.tv_usec = often.it_value.tv_usec = 200;
  setitimer(ITIMER_PROF, &often, nullptr);
  std::thread other([] { call_both(1000); });
  call_both(1000);
  other.join();
  while (samples < 3) {
  }
  often = {};
  setitimer(ITIMER_PROF, &often, nullptr);
}

HOSTILE(signals_at_births_and_deaths, 600, "sends signals to threads that start and end") {
  handle(
      SIGUSR1, [](int, siginfo_t*, void*) { raw(SYS_geteuid); }, SA_RESTART);
  std::atomic<bool> stop{false};
  std::thread sender([&] {
    while (!stop) {
      kill(getpid(), SIGUSR1);
      raw(SYS_sched_yield);
    }
  });
  for (int i = 0; i < 100; ++i) std::thread([] { call_both(3); }).join();
  stop = true;
  sender.join();
}

HOSTILE(waits_in_its_handler, 40, "a SIGCHLD handler reaps twenty children, as servers do") {
  static std::array<int, 2> reaped;
  ASSERT_EQ(pipe(reaped.data()), 0);
  handle(
      SIGCHLD,
      [](int, siginfo_t*, void*) {
        const int before = errno;
        while (waitpid(-1, nullptr, WNOHANG) > 0) raw(SYS_write, reaped[1], "", 1);
        errno = before;
      },
      SA_RESTART | SA_NOCLDSTOP);
  for (int i = 0; i < 20; ++i) {
    if (fork() == 0) _exit(0);
    call_both(1);
  }
  char byte = 0;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(read(reaped[0], &byte, 1), 1);
  signal(SIGCHLD, SIG_DFL);
}
