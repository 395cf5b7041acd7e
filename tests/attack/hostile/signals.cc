// SPDX-License-Identifier: MIT
//
// Signals that a program has every right to play with. Those with SIGSYS have a file of their own.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>

#include "hostile.h"
#include "signals.h"

namespace {

using attack::call_both;
using attack::call_raw;
using conformance::handle;
using conformance::raw;

constexpr std::size_t kMaskBytes = sizeof(std::uint64_t);
sigjmp_buf g_jump;

}  // namespace

HOSTILE(jumps_out_of_handlers, 2000, "leaves a handler by siglongjmp a thousand times") {
  handle(SIGUSR1, [](int) {
    call_raw(1);
    siglongjmp(g_jump, 1);
  });
  static int i = 0;  // a jump leaves it as it is
  for (i = 0; i < 1000; ++i) {
    if (sigsetjmp(g_jump, 1) == 0) raise(SIGUSR1);
    attack::call_libc(1);
  }
}

HOSTILE(handler_changes_registers, 10, "a handler moves the program counter, as garbage collectors do") {
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t*, void* context) {
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] += 2;  // past the ud2
  };
  sigaction(SIGILL, &action, nullptr);
  for (int i = 0; i < 5; ++i) {
    asm volatile("ud2" ::: "memory");
    call_both(1);
  }
}

HOSTILE(faults_by_thousands, 3000, "a SIGSEGV handler that makes calls opens a page, a thousand times") {
  static char* page = nullptr;
  page = static_cast<char*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  handle(SIGSEGV, [](int) {
    call_raw(2);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
  });
  for (int i = 0; i < 1000; ++i) {
    *static_cast<volatile char*>(page) = 1;
    attack::call_libc(1);
    mprotect(page, 4096, PROT_NONE);
  }
}

HOSTILE(unmapped_action, 10, "passes unmapped memory to rt_sigaction, rt_sigprocmask and sigaltstack: EFAULT") {
  char* gone = static_cast<char*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  EXPECT_EQ(raw(SYS_rt_sigaction, SIGUSR1, gone, nullptr, kMaskBytes), -EFAULT);
  EXPECT_EQ(raw(SYS_rt_sigaction, SIGUSR1, nullptr, gone, kMaskBytes), -EFAULT);
  EXPECT_EQ(raw(SYS_rt_sigprocmask, SIG_BLOCK, gone, nullptr, kMaskBytes), -EFAULT);
  EXPECT_EQ(raw(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, gone, kMaskBytes), -EFAULT);
  EXPECT_EQ(raw(SYS_sigaltstack, gone, nullptr), -EFAULT);
  EXPECT_EQ(raw(SYS_sigaltstack, nullptr, gone), -EFAULT);
  munmap(gone, 4096);
  EXPECT_EQ(raw(SYS_rt_sigaction, SIGSYS, gone, nullptr, kMaskBytes), -EFAULT);
  EXPECT_EQ(raw(SYS_ppoll, nullptr, 0, nullptr, gone, kMaskBytes), -EFAULT);
  call_both(5);
}

HOSTILE(odd_signal_arguments, 10, "passes wrong sizes and numbers to the signal calls: EINVAL") {
  std::uint64_t mask = 0;
  EXPECT_EQ(raw(SYS_rt_sigaction, SIGUSR1, nullptr, nullptr, 4), -EINVAL);
  EXPECT_EQ(raw(SYS_rt_sigaction, 65, nullptr, nullptr, kMaskBytes), -EINVAL);
  EXPECT_EQ(raw(SYS_rt_sigprocmask, 77, &mask, nullptr, kMaskBytes), -EINVAL);
  EXPECT_EQ(raw(SYS_rt_sigprocmask, SIG_BLOCK, &mask, nullptr, 16), -EINVAL);
  stack_t stack = {};
  stack.ss_flags = 0x40;
  EXPECT_EQ(raw(SYS_sigaltstack, &stack, nullptr), -EINVAL);
  stack = {.ss_sp = &stack, .ss_flags = 0, .ss_size = 100};
  EXPECT_EQ(raw(SYS_sigaltstack, &stack, nullptr), -ENOMEM);
  call_both(5);
}

HOSTILE(few_pending_signals, 20, "cannot queue a signal: RLIMIT_SIGPENDING 0") {
  const rlimit none = {0, 0};
  ASSERT_EQ(setrlimit(RLIMIT_SIGPENDING, &none), 0);
  call_both(10);
}

HOSTILE(storm_of_signals, 4000, "two threads send each other signals while they make calls") {
  static std::atomic<int> handled{0};
  handle(
      SIGUSR1, [](int) { ++handled; }, SA_RESTART);
  std::atomic<bool> done{false};
  const pthread_t self = pthread_self();
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) {
      pthread_kill(self, SIGUSR1);
      call_both(1);
    }
    done = true;
  });
  call_both(1000);
  other.join();
  EXPECT_TRUE(done);
}

HOSTILE(stops_and_continues, 20, "stops itself, and a child continues it") {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    attack::wait_for_state(parent, 'T');
    kill(parent, SIGCONT);
    _exit(0);
  }
  call_both(5);
  raise(SIGSTOP);
  call_both(5);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}
