// SPDX-License-Identifier: MIT
//
// Programs that use SIGSYS themselves, which the dispatch backend needs: they get each one that is meant for them, on
// the thread that it is for, and none of their calls is lost for it.
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#include <atomic>
#include <functional>
#include <iterator>
#include <thread>

#include "hostile.h"
#include "signals.h"

namespace {

using attack::call_both;
using attack::call_raw;
using conformance::handle;
using conformance::raw;

std::atomic<int> g_handled{0};
sigjmp_buf g_jump;

void count(int /*signal*/) {
  ++g_handled;
}

void call_twice(int /*signal*/) {
  call_raw(2);
  ++g_handled;
}

void call_nothing() {
  __builtin_ia32_pause();
}

void block_all() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
}

sigset_t only_sigsys() {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGSYS);
  return only;
}

bool is_pending() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGSYS) == 1;
}

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

}  // namespace

HOSTILE(sigsys_pending, 20, "blocks every signal, raises SIGSYS, sees it pending and takes it with sigtimedwait") {
  block_all();
  call_both(5);
  raise(SIGSYS);
  EXPECT_TRUE(is_pending());
  const sigset_t only = only_sigsys();
  const timespec no_time = {};
  EXPECT_EQ(sigtimedwait(&only, nullptr, &no_time), SIGSYS);
  EXPECT_FALSE(is_pending());
  call_both(5);
}

HOSTILE(sigsys_unblocked_later, 12, "blocks SIGSYS, raises it, and its handler runs when it is unblocked") {
  handle(SIGSYS, call_twice);
  const sigset_t only = only_sigsys();
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
    const sigset_t only = only_sigsys();
    int signal = 0;
    taken = sigwait(&only, &signal) == 0 && signal == SIGSYS;
    call_both(5);
  });
  kill(getpid(), SIGSYS);
  waiter.join();
  EXPECT_TRUE(taken);
  call_both(5);
}

HOSTILE(sigsys_for_any_thread, 60,
        "all threads block SIGSYS: one sent to the process is pending for each, until one takes it") {
  block_all();
  handle(SIGSYS, count);
  static const sigset_t kNone = {};
  const std::function<void()> takes[] = {
      [] {
        EXPECT_TRUE(is_pending());
        const sigset_t only = only_sigsys();
        pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
      },
      [] { EXPECT_EQ(sigsuspend(&kNone), -1); },
      [] { EXPECT_EQ(ppoll(nullptr, 0, nullptr, &kNone), -1); },
      [] { EXPECT_EQ(pselect(0, nullptr, nullptr, nullptr, nullptr, &kNone), -1); },
      [] {
        const int descriptor = epoll_create1(0);
        epoll_event event = {};
        EXPECT_EQ(epoll_pwait(descriptor, &event, 1, -1, &kNone), -1);
        close(descriptor);
      },
      [] {
        const sigset_t only = only_sigsys();
        siginfo_t info = {};
        EXPECT_EQ(sigwaitinfo(&only, &info), SIGSYS);
        EXPECT_TRUE(info.si_code == SI_USER && info.si_pid == getpid());
        ++g_handled;
      },
  };
  int handled = 0;
  for (const std::function<void()>& take : takes) {
    kill(getpid(), SIGSYS);
    EXPECT_TRUE(is_pending());
    std::thread([&] {
      take();
      call_both(5);
    }).join();
    EXPECT_FALSE(is_pending());
    EXPECT_EQ(g_handled, ++handled);
  }
}

HOSTILE(sigsys_for_the_willing, 20, "SIGSYS sent to the process goes to the one thread that does not block it") {
  block_all();
  static std::atomic<pid_t> handled_by{0};
  handle(SIGSYS, [](int) { handled_by = gettid(); });
  std::atomic<pid_t> willing{0};
  std::thread other([&] {
    const sigset_t only = only_sigsys();
    pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
    willing = gettid();
    while (handled_by == 0) call_nothing();
    call_both(5);
  });
  while (willing == 0) call_nothing();
  kill(getpid(), SIGSYS);
  other.join();
  EXPECT_EQ(handled_by, willing);
  call_both(5);
}

HOSTILE(sigsys_ends_no_call, 10, "reads from a pipe while SIGSYS comes that it blocks: the read goes on") {
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  block_all();
  std::thread other([&, reader = pthread_self()] {
    for (int i = 0; i < 20; ++i) {
      pthread_kill(reader, SIGSYS);
      kill(getpid(), SIGSYS);
      usleep(500);
    }
    EXPECT_EQ(write(ends[1], "", 1), 1);
  });
  char byte = 1;
  EXPECT_EQ(read(ends[0], &byte, 1), 1);
  other.join();
  close(ends[0]);
  close(ends[1]);
  call_both(5);
}

HOSTILE(sigsys_by_signalfd, 10, "reads SIGSYS from a signalfd") {
  const sigset_t only = only_sigsys();
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
