// SPDX-License-Identifier: MIT
//
// Programs that block or await SIGSYS, which the dispatch backend needs: each one goes to the thread that it is for.
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <time.h>

#include <atomic>
#include <iterator>
#include <thread>

#include "hostile.h"
#include "signals.h"
#include "sigsys.h"

namespace {

using attack::call_both;
using attack::call_nothing;
using attack::call_twice;
using attack::count;
using attack::g_handled;
using attack::only_sigsys;
using conformance::handle;

void block_all() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
}

bool is_pending() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGSYS) == 1;
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

HOSTILE(sigsys_ends_no_call, 10, "reads from a pipe while a blocked SIGSYS arrives: the read continues") {
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  block_all();
  std::thread other([&, reader = pthread_self(), task = gettid()] {
    for (int i = 0; i < 20; ++i) {
      attack::wait_for_state(task, 'S');
      pthread_kill(reader, SIGSYS);
      kill(getpid(), SIGSYS);
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
