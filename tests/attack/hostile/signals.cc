// SPDX-License-Identifier: MIT
//
// Signals that a program has every right to play with, SIGSYS among them.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <ucontext.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>

#include "hostile.h"

namespace {

using attack::call_both;
using attack::call_raw;
using conformance::raw;

constexpr std::size_t kMaskBytes = sizeof(std::uint64_t);
volatile sig_atomic_t g_handled = 0;
sigjmp_buf g_jump;

void handle(int signal, void (*handler)(int), int flags = 0) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

void call_twice(int /*signal*/) {
  call_raw(2);
  g_handled = g_handled + 1;
}

void call_nothing() {
  __builtin_ia32_pause();
}

void block_all() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace

HOSTILE(sigsys_pending, 20, "blocks every signal, raises SIGSYS, sees it pending and takes it with sigtimedwait") {
  block_all();
  call_both(5);
  raise(SIGSYS);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGSYS), 1);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGSYS);
  const timespec no_time = {};
  EXPECT_EQ(sigtimedwait(&only, nullptr, &no_time), SIGSYS);
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGSYS), 0);
  call_both(5);
}

HOSTILE(sigsys_unblocked_later, 12, "blocks SIGSYS, raises it, and its handler runs when it is unblocked") {
  handle(SIGSYS, call_twice);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGSYS);
  sigprocmask(SIG_BLOCK, &only, nullptr);
  raise(SIGSYS);
  EXPECT_EQ(g_handled, 0);
  call_both(5);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  EXPECT_EQ(g_handled, 1);
}

HOSTILE(sigsys_awaited_by_thread, 20, "a thread waits for SIGSYS in sigwait, another sends it") {
  block_all();
  std::atomic<bool> taken{false};
  std::thread waiter([&] {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, SIGSYS);
    int signal = 0;
    taken = sigwait(&only, &signal) == 0 && signal == SIGSYS;
    call_both(5);
  });
  kill(getpid(), SIGSYS);
  waiter.join();
  EXPECT_TRUE(taken);
  call_both(5);
}

HOSTILE(sigsys_by_signalfd, 10, "reads SIGSYS from a signalfd") {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGSYS);
  sigprocmask(SIG_BLOCK, &only, nullptr);
  const int descriptor = signalfd(-1, &only, SFD_NONBLOCK);
  raise(SIGSYS);
  signalfd_siginfo info = {};
  EXPECT_EQ(read(descriptor, &info, sizeof info), static_cast<ssize_t>(sizeof info));
  EXPECT_EQ(info.ssi_signo, static_cast<unsigned>(SIGSYS));
  close(descriptor);
  call_both(5);
}

HOSTILE(sigsys_ignored, 10, "ignores SIGSYS and raises it") {
  signal(SIGSYS, SIG_IGN);
  raise(SIGSYS);
  call_both(5);
}

HOSTILE(sigsys_with_value, 12, "gets the value that sigqueue sends with SIGSYS") {
  static std::atomic<int> value{0};
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t* info, void*) {
    value = info->si_code == SI_QUEUE ? info->si_value.sival_int : -1;
    call_raw(2);
  };
  sigaction(SIGSYS, &action, nullptr);
  sigqueue(getpid(), SIGSYS, sigval{.sival_int = 4711});
  EXPECT_EQ(value, 4711);
  call_both(5);
}

HOSTILE(sigsys_mask_of_child, 10, "blocks SIGSYS: a child inherits it blocked") {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGSYS);
  sigprocmask(SIG_BLOCK, &only, nullptr);
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c",
          "while read -r name value; do [ $name = SigBlk: ] && mask=$value; done </proc/self/status; "
          "exec test $mask = 0000000040000000",
          nullptr);
    _exit(9);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  call_both(5);
}

HOSTILE(sigsys_kills_child, 10, "a child that sets the default action is killed by SIGSYS") {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSYS, SIG_DFL);
    raise(SIGSYS);
    _exit(9);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) << status;
  call_both(5);
}

HOSTILE(trapping_filter, 10, "a filter of its own traps a syscall, and its SIGSYS handler answers it") {
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t* info, void* context) {
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RAX] = info->si_syscall == SYS_getpgid ? 42 : 43;
  };
  sigaction(SIGSYS, &action, nullptr);
  ASSERT_TRUE(attack::filter({SYS_getpgid}, 0x00030000U /* SECCOMP_RET_TRAP */));
  EXPECT_EQ(getpgid(0), 42);
  EXPECT_EQ(raw(SYS_getpgid, 0), 42);
  call_both(5);
}

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

HOSTILE(unmapped_action, 10, "gives rt_sigaction, rt_sigprocmask and sigaltstack memory that is not there: EFAULT") {
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

HOSTILE(odd_signal_arguments, 10, "gives the signal calls sizes and numbers that are wrong: EINVAL") {
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

HOSTILE(few_pending_signals, 20, "may queue no signal: RLIMIT_SIGPENDING 0") {
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

HOSTILE(sigsys_forged, 20, "sends itself a SIGSYS that says what the kernel says of a dispatched call") {
  static std::atomic<int> handled{0};
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t* info, void*) { handled += info->si_code == 2 ? 1 : 100; };
  sigaction(SIGSYS, &action, nullptr);
  for (int i = 0; i < 5; ++i) {
    siginfo_t info = {};
    info.si_signo = SIGSYS;
    info.si_code = 2;  // SYS_USER_DISPATCH
    info.si_syscall = SYS_getppid;
    info.si_call_addr = reinterpret_cast<void*>(&call_twice);
    EXPECT_EQ(raw(SYS_rt_tgsigqueueinfo, getpid(), raw(SYS_gettid), SIGSYS, &info), 0);
  }
  EXPECT_EQ(handled, 5);
  call_both(10);
}

HOSTILE(sigsys_storm, 4000, "a thread sends SIGSYS while another makes calls, and each is handled by the program") {
  static std::atomic<int> handled{0};
  handle(
      SIGSYS, [](int) { ++handled; }, SA_RESTART);
  const pthread_t self = pthread_self();
  std::thread other([&] {
    for (int i = 1; i <= 500; ++i) {
      pthread_kill(self, SIGSYS);
      while (handled < i) call_nothing();
    }
  });
  call_both(2000);
  other.join();
  EXPECT_EQ(handled, 500);
}

HOSTILE(sigsys_jumped_out_of, 1000, "leaves its SIGSYS handler by siglongjmp, five hundred times") {
  handle(SIGSYS, [](int) { siglongjmp(g_jump, 1); });
  static int i = 0;
  for (i = 0; i < 500; ++i) {
    if (sigsetjmp(g_jump, 1) == 0) raise(SIGSYS);
    call_both(1);
  }
}

HOSTILE(sigsys_action_kept, 10, "finds the action of SIGSYS as it set it: handler, flags and mask") {
  struct sigaction first = {};
  EXPECT_EQ(sigaction(SIGSYS, nullptr, &first), 0);
  EXPECT_EQ(first.sa_handler, SIG_DFL);
  struct sigaction action = {};
  action.sa_handler = call_twice;
  action.sa_flags = SA_RESETHAND | SA_NODEFER | SA_ONSTACK;
  sigaddset(&action.sa_mask, SIGUSR2);
  sigaction(SIGSYS, &action, nullptr);
  struct sigaction seen = {};
  sigaction(SIGSYS, nullptr, &seen);
  EXPECT_EQ(seen.sa_handler, call_twice);
  constexpr int kRestorer = 0x04000000;  // libc's own
  EXPECT_EQ(seen.sa_flags & ~kRestorer, action.sa_flags);
  EXPECT_EQ(sigismember(&seen.sa_mask, SIGUSR2), 1);
  raise(SIGSYS);  // two calls
  sigaction(SIGSYS, nullptr, &seen);
  EXPECT_EQ(seen.sa_handler, SIG_DFL);
  call_both(4);
}

HOSTILE(stops_and_continues, 20, "stops itself, and a child continues it") {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 100; ++i) {
      usleep(5000);
      kill(parent, SIGCONT);
    }
    _exit(0);
  }
  call_both(5);
  raise(SIGSTOP);
  call_both(5);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}
