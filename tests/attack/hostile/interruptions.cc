// SPDX-License-Identifier: MIT
//
// Interrupted calls: a handler that interrupts a call of the program's own instruction makes calls, never comes back,
// comes back much later, or is interrupted itself.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "hostile.h"

namespace {

using attack::call_both;
using attack::call_raw;
using conformance::raw;

constexpr char kPaint = 0x55;
sigjmp_buf g_jump;

void handle(int signal, void (*handler)(int), int flags = 0) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

/// By an own syscall instruction, which works on very little stack.
void send_to_self(int signal) {
  raw(SYS_tgkill, raw(SYS_getpid), raw(SYS_gettid), signal);
}

/// Apart from code with objects to destroy: compilers expect that no instruction but a call can throw.
__attribute__((noinline)) long read_raw(int descriptor, char* byte) {
  return raw(SYS_read, descriptor, byte, 1);
}

/// Waits for SIGUSR1 by a call of our own instruction. It is pending by then, so that the call is interrupted at once.
void wait_for_signal() {
  std::uint64_t usr1 = 1ULL << (SIGUSR1 - 1);
  raw(SYS_rt_sigprocmask, SIG_BLOCK, &usr1, 0, 8);
  send_to_self(SIGUSR1);
  const std::uint64_t none = 0;
  raw(SYS_rt_sigsuspend, &none, 8);
  raw(SYS_rt_sigprocmask, SIG_UNBLOCK, &usr1, 0, 8);
}

}  // namespace

HOSTILE(jumps_out_of_waits, 2010, "leaves a handler that interrupts a waiting call by siglongjmp, a thousand times") {
  handle(SIGUSR1, [](int) {
    call_raw(1);
    siglongjmp(g_jump, 1);
  });
  static int i = 0;
  for (i = 0; i < 1000; ++i) {
    if (sigsetjmp(g_jump, 1) == 0) wait_for_signal();
    call_raw(1);
  }
  call_both(5);
}

HOSTILE(jumps_out_of_restarted_reads, 210,
        "leaves a handler that interrupts a read, which would start again, by siglongjmp, a hundred times") {
  static int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  handle(
      SIGALRM,
      [](int) {
        call_raw(1);
        siglongjmp(g_jump, 1);
      },
      SA_RESTART);
  static int i = 0;
  for (i = 0; i < 100; ++i) {
    if (sigsetjmp(g_jump, 1) == 0) {
      ualarm(500, 0);
      char byte = 0;
      raw(SYS_read, ends[0], &byte, 1);
    }
    call_raw(1);
  }
  close(ends[0]);
  close(ends[1]);
  call_both(5);
}

HOSTILE(jumps_out_and_calls_on_512_bytes, 20,
        "leaves handlers that interrupt calls which send or wait for signals, by siglongjmp, then makes calls on 512 "
        "bytes of stack") {
  handle(SIGUSR1, [](int) { siglongjmp(g_jump, 1); });
  static int i = 0;
  for (i = 0; i < 20; ++i) {
    if (sigsetjmp(g_jump, 1) != 0) continue;
    if (i % 2 == 0) send_to_self(SIGUSR1);
    wait_for_signal();
  }
  constexpr std::size_t kBelow = std::size_t{64} * 1024;
  std::vector<char> memory(kBelow + 512, kPaint);
  attack::on_stack(memory.data() + memory.size(), [] { call_raw(10); });
  EXPECT_EQ(std::count(memory.begin(), memory.begin() + kBelow, kPaint), static_cast<long>(kBelow));
  call_both(5);
}

HOSTILE(throws_out_of_handlers, 400,
        "a handler throws an exception through the call that it interrupts, two hundred times") {
  handle(
      SIGUSR1, [](int) { throw 1; }, SA_NODEFER);
  // By a pointer, because raise() itself is declared as never throwing.
  int (*volatile send)(int) = raise;
  for (int i = 0; i < 200; ++i) {
    try {
      send(SIGUSR1);
      ADD_FAILURE();
    } catch (int) {
      call_both(1);
    }
  }
}

HOSTILE(threads_end_in_handlers, 40, "a handler that interrupts a waiting call ends its thread, twenty times") {
  static int ends[2];
  static std::atomic<pid_t> reader{0};
  static int round = 0;
  ASSERT_EQ(pipe(ends), 0);
  handle(SIGUSR1, [](int) { pthread_exit(nullptr); });
  for (round = 0; round < 20; ++round) {
    reader = 0;
    pthread_t thread{};
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          attack::call_libc(1);
          char byte = 0;
          reader = gettid();
          if (round % 2 == 0) {
            long (*volatile read_by)(int, char*) = read_raw;
            read_by(ends[0], &byte);
          } else if (read(ends[0], &byte, 1) != 0) {
            ADD_FAILURE();
          }
          return nullptr;
        },
        nullptr);
    conformance::spin_until([] { return reader.load() != 0; });
    attack::wait_for_state(reader, 'S');
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, nullptr);
    call_raw(1);
  }
  close(ends[0]);
  close(ends[1]);
}

HOSTILE(waits_in_coroutines, 124,
        "three coroutines wait at once: each is interrupted, and its handler switches away and continues much later") {
  static ucontext_t of_test;
  static std::array<ucontext_t, 3> contexts;
  static std::array<std::vector<char>, 3> stacks;
  static volatile unsigned turn;
  handle(
      SIGUSR1,
      [](int) {
        call_raw(1);
        swapcontext(&contexts[turn], &of_test);
        call_raw(1);
      },
      SA_NODEFER);
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    stacks[i].assign(std::size_t{64} * 1024, '\0');
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = stacks[i].data();
    contexts[i].uc_stack.ss_size = stacks[i].size();
    makecontext(
        &contexts[i],
        [] {
          for (;;) {
            wait_for_signal();
            call_raw(1);
          }
        },
        0);
  }
  for (int i = 0; i < 30; ++i) {
    turn = static_cast<unsigned>(i) % contexts.size();
    swapcontext(&of_test, &contexts[turn]);
    call_raw(1);
  }
  handle(SIGUSR1, SIG_IGN);
  call_both(5);
}

HOSTILE(ten_handlers_at_once, 60, "ten handlers interrupt each other's waiting calls, and each makes calls") {
  static volatile int depth;
  depth = 0;
  handle(
      SIGUSR1,
      [](int) {
        call_raw(2);
        depth = depth + 1;
        if (depth < 10) wait_for_signal();
        call_raw(2);
      },
      SA_NODEFER);
  wait_for_signal();
  EXPECT_EQ(depth, 10);
  call_both(10);
}

HOSTILE(
    interrupted_on_512_bytes, 30,
    "a call on a coroutine's stack of 512 bytes is interrupted by a handler on the signal stack, which makes calls") {
  static std::vector<char> signal_stack;
  signal_stack.assign(std::size_t{64} * 1024, '\0');
  stack_t stack = {};
  stack.ss_sp = signal_stack.data();
  stack.ss_size = signal_stack.size();
  ASSERT_EQ(sigaltstack(&stack, nullptr), 0);
  handle(
      SIGUSR1, [](int) { call_raw(1); }, SA_ONSTACK);
  constexpr std::size_t kBelow = std::size_t{64} * 1024;
  std::vector<char> memory(kBelow + 512, kPaint);
  attack::on_stack(memory.data() + memory.size(), [] {
    for (int i = 0; i < 10; ++i) {
      send_to_self(SIGUSR1);
      call_raw(1);
    }
  });
  EXPECT_EQ(std::count(memory.begin(), memory.begin() + kBelow, kPaint), static_cast<long>(kBelow));
  stack = {};
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
  call_both(5);
}
