// SPDX-License-Identifier: MIT
//
// Programs that handle SIGSYS, which the dispatch backend needs: they get each one, and none of their calls is lost for
// it.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#include <atomic>
#include <functional>
#include <iterator>
#include <string>
#include <thread>

#include "hostile.h"
#include "signals.h"
#include "sigsys.h"

namespace {

using attack::call_both;
using attack::call_nothing;
using attack::call_raw;
using attack::call_twice;
using attack::count;
using attack::g_handled;
using attack::only_sigsys;
using conformance::handle;
using conformance::raw;

sigjmp_buf g_jump;

/// SIGSYS, sent to the process now and then; to `thread` where that is not 0.
timer_t begin_timer(pid_t thread) {
  sigevent event = {};
  event.sigev_signo = SIGSYS;
  event.sigev_notify = thread != 0 ? SIGEV_THREAD_ID : SIGEV_SIGNAL;
  event._sigev_un._tid = thread;
  timer_t timer = {};
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  constexpr timespec kEvery = {0, 1'000'000};
  const itimerspec when = {kEvery, kEvery};
  timer_settime(timer, 0, &when, nullptr);
  return timer;
}

constexpr int kSetDispatch = 59;  // PR_SET_SYSCALL_USER_DISPATCH

int status_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

/// The text that a child prints. `start` starts it, and gets the descriptor for its standard output.
std::string output_of(const std::function<pid_t(int)>& start) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = start(ends[1]);
  close(ends[1]);
  std::string text;
  char piece[256];
  for (ssize_t size = 0; (size = read(ends[0], piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<std::size_t>(size));
  close(ends[0]);
  EXPECT_EQ(status_of(child), 0);
  return text;
}

char* const kSignalsOfProgram[] = {const_cast<char*>("grep"), const_cast<char*>("-E"),
                                   const_cast<char*>("Sig(Blk|Ign)"), const_cast<char*>("/proc/self/status"), nullptr};

/// In a child: it becomes the program that prints which signals are blocked and ignored.
[[noreturn]] void show_signals(int output) {
  dup2(output, STDOUT_FILENO);
  execv("/bin/grep", kSignalsOfProgram);
  _exit(9);
}

}  // namespace

// NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
HOSTILE(next_program_inherits_sigsys, 20,
        "blocks and ignores SIGSYS, and starts programs by vfork, posix_spawn and fork") {
  signal(SIGSYS, SIG_IGN);
  const sigset_t only = only_sigsys();
  sigprocmask(SIG_BLOCK, &only, nullptr);
  const auto by_vfork = [](int output) {
    const pid_t child = vfork();
    if (child == 0) {
      show_signals(output);
    }
    return child;
  };
  const auto by_fork = [](int output) {
    const pid_t child = fork();
    if (child == 0) {
      show_signals(output);
    }
    return child;
  };
  const auto by_spawn = [](int output) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    pid_t child = -1;
    EXPECT_EQ(posix_spawn(&child, "/bin/grep", &actions, nullptr, kSignalsOfProgram, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return child;
  };
  for (const std::function<pid_t(int)>& way : {std::function<pid_t(int)>(by_vfork), {by_fork}, {by_spawn}}) {
    const std::string signals = output_of(way);
    for (const char* const name : {"SigBlk:", "SigIgn:"}) {
      const std::size_t at = signals.find(name);
      ASSERT_NE(at, std::string::npos) << signals;
      const unsigned long mask = std::stoul(signals.substr(at + 7), nullptr, 16);
      EXPECT_NE(mask & (1UL << (SIGSYS - 1)), 0U) << signals;
    }
  }
  call_both(10);
}

HOSTILE(children_use_dispatch, 20,
        "children of fork and vfork ask for Syscall User Dispatch, and one handles SIGSYS itself") {
  const pid_t forked = fork();
  if (forked == 0) {
    const int before = g_handled;
    handle(SIGSYS, count);
    raw(SYS_prctl, kSetDispatch, 77, 0, 0, 0);
    raise(SIGSYS);
    _exit(g_handled == before + 1 ? 0 : 9);
  }
  EXPECT_EQ(status_of(forked), 0);
  const pid_t shared = vfork();
  if (shared == 0) {
    syscall(SYS_prctl, kSetDispatch, 0, 0, 0, 0);
    _exit(0);
  }
  EXPECT_EQ(status_of(shared), 0);
  struct sigaction seen = {};
  EXPECT_EQ(sigaction(SIGSYS, nullptr, &seen), 0);
  EXPECT_EQ(seen.sa_handler, SIG_DFL);
  call_both(10);
}
// NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)

HOSTILE(sigsys_kills_a_child_later, 20,
        "blocks every signal, makes a signalfd of all, unblocks them, and SIGSYS kills children of fork and raw fork") {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  close(signalfd(-1, &all, 0));
  sigprocmask(SIG_SETMASK, &before, nullptr);
  for (const bool is_raw : {false, true}) {
    const pid_t child = is_raw ? attack::raw_fork() : fork();
    if (child == 0) {
      raw(SYS_tgkill, getpid(), gettid(), SIGSYS);
      _exit(0);
    }
    const int status = status_of(child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) << is_raw << ' ' << status;
  }
  call_both(10);
}

HOSTILE(sigsys_blocked_without_a_clock, 20,
        "blocks SIGSYS, forbids itself the time-stamp counter, and SIGSYS stays pending") {
  const sigset_t only = only_sigsys();
  sigprocmask(SIG_BLOCK, &only, nullptr);
  constexpr int kSetTsc = 26;  // PR_SET_TSC, PR_TSC_SIGSEGV
  if (raw(SYS_prctl, kSetTsc, 2, 0, 0, 0) != 0) GTEST_SKIP() << "the kernel has no PR_SET_TSC";
  raw(SYS_tgkill, getpid(), gettid(), SIGSYS);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGSYS), 1);
  call_both(10);
  raw(SYS_prctl, kSetTsc, 1, 0, 0, 0);
}

HOSTILE(own_action_after_dispatch, 20, "ignores SIGSYS, ends Syscall User Dispatch, handles SIGSYS, and forks") {
  signal(SIGSYS, SIG_IGN);
  raw(SYS_prctl, kSetDispatch, 0, 0, 0, 0);
  handle(SIGSYS, count);
  const pid_t child = fork();
  if (child == 0) {
    const int before = g_handled;
    raise(SIGSYS);
    _exit(g_handled == before + 1 ? 0 : 9);
  }
  EXPECT_EQ(status_of(child), 0);
  call_both(10);
}

HOSTILE(dispatch_and_no_clock, 20, "ends Syscall User Dispatch, then forbids itself the time-stamp counter") {
  raw(SYS_prctl, kSetDispatch, 0, 0, 0, 0);
  constexpr int kSetTsc = 26;  // PR_SET_TSC, PR_TSC_SIGSEGV
  if (raw(SYS_prctl, kSetTsc, 2, 0, 0, 0) != 0) GTEST_SKIP() << "the kernel has no PR_SET_TSC";
  call_both(10);
  raw(SYS_prctl, kSetTsc, 1, 0, 0, 0);
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
  const sigset_t only = only_sigsys();
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

HOSTILE(sigsys_forged, 20, "sends itself a SIGSYS with the siginfo of a dispatched call") {
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
  handle(SIGSYS, count, SA_RESTART);
  const pthread_t self = pthread_self();
  std::thread other([&] {
    for (int i = 1; i <= 500; ++i) {
      pthread_kill(self, SIGSYS);
      while (g_handled < i) call_nothing();
    }
  });
  call_both(2000);
  other.join();
  EXPECT_EQ(g_handled, 500);
}

HOSTILE(sigsys_from_everywhere, 4000,
        "gets SIGSYS by kill, tgkill, sigqueue and timers while it calls, and each call is made") {
  handle(SIGSYS, count, SA_RESTART);
  timer_t timers[] = {begin_timer(0), begin_timer(gettid())};
  std::atomic<bool> is_over{false};
  std::thread other([&, self = pthread_self()] {
    const sigset_t only = only_sigsys();
    pthread_sigmask(SIG_BLOCK, &only, nullptr);
    const std::function<void()> ways[] = {
        [&] { pthread_kill(self, SIGSYS); },
        [] { kill(getpid(), SIGSYS); },
        [&] { pthread_sigqueue(self, SIGSYS, {}); },
        [] { sigqueue(getpid(), SIGSYS, {}); },
    };
    // No more at once than can be handled.
    for (std::size_t i = 0; !is_over; ++i) {
      const int handled = g_handled;
      ways[i % std::size(ways)]();
      while (g_handled == handled && !is_over) call_nothing();
    }
  });
  while (g_handled == 0) call_nothing();
  const long parent = raw(SYS_getppid);
  int wrong = 0;
  for (int i = 1; i < 4000; ++i) wrong += raw(SYS_getppid) == parent ? 0 : 1;
  for (timer_t timer : timers) timer_delete(timer);
  is_over = true;
  other.join();
  EXPECT_EQ(wrong, 0);
}

HOSTILE(sigsys_jumped_out_of, 1000, "leaves its SIGSYS handler by siglongjmp, five hundred times") {
  handle(SIGSYS, [](int) { siglongjmp(g_jump, 1); });
  static int i = 0;
  for (i = 0; i < 500; ++i) {
    if (sigsetjmp(g_jump, 1) == 0) raise(SIGSYS);
    call_both(1);
  }
}

HOSTILE(sigsys_action_kept, 10, "reads back the action of SIGSYS that it set: handler, flags and mask") {
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

HOSTILE(trapping_filter, 10, "its own filter traps a syscall, and its SIGSYS handler answers it") {
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
