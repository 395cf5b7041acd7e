// SPDX-License-Identifier: MIT
//
// When the backend stands aside, because the program uses what it needs.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "opened.h"

namespace syscost::dispatch {
namespace {

TEST(DispatchDeathTest, StandsAsideForAProgramThatDispatchesItself) {
  auto use_own_dispatch = [] {
    OpenedDispatch opened;
    constexpr int kSetDispatch = 59;
    constexpr int kOn = 1;
    static char selector = 0;
    const bool is_on = prctl(kSetDispatch, kOn, 0, 0, &selector) == 0;
    const Result<std::uint64_t> losses = opened.backend->hidden_losses();
    if (is_on && !losses.ok()) std::fputs(losses.failure().reason.c_str(), stderr);
    std::_Exit(is_on && !losses.ok() ? 0 : 1);
  };
  EXPECT_EXIT(use_own_dispatch(), testing::ExitedWithCode(0), "stopped counting");
}

/// Sets the gs base as `change` does, makes calls, and leaves with 0 if dispatch says that it stood aside for that.
void change_gs(void (*change)(), Patching patching) {
  OpenedDispatch opened(patching);
  getppid();
  const bool was_well = opened.backend->hidden_losses().ok();
  change();
  for (int i = 0; i < 10; ++i) getppid();
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  syscall(SYS_getppid);
  const Result<std::uint64_t> losses = opened.backend->hidden_losses();
  if (!losses.ok()) std::fputs(losses.failure().reason.c_str(), stderr);
  std::_Exit(was_well && !losses.ok() ? 0 : 1);
}

void write_gs_base() {
  static int elsewhere = 0;
  asm volatile("wrgsbase %0" : : "r"(&elsewhere));
}

void load_gs() {
  asm volatile("mov %0, %%gs" : : "r"(0));
}

TEST(DispatchDeathTest, StandsAsideWhenTheGsBaseIsSetWithoutACall) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer's runtime makes calls of its own";
  for (const Patching patching : {Patching::allowed, Patching::never}) {
    EXPECT_EXIT(change_gs(write_gs_base, patching), testing::ExitedWithCode(0), "gs register");
    EXPECT_EXIT(change_gs(load_gs, patching), testing::ExitedWithCode(0), "gs register");
  }
}

TEST(DispatchDeathTest, StandsAsideWhenAThreadSetsItsGsBase) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer's runtime makes calls of its own";
  auto change_in_thread = [](void (*change)()) {
    OpenedDispatch opened;
    std::thread([change] {
      change();
      getppid();
    }).join();
    const Result<std::uint64_t> losses = opened.backend->hidden_losses();
    if (!losses.ok()) std::fputs(losses.failure().reason.c_str(), stderr);
    std::_Exit(losses.ok() ? 1 : 0);
  };
  EXPECT_EXIT(change_in_thread(write_gs_base), testing::ExitedWithCode(0), "gs register");
  EXPECT_EXIT(change_in_thread(load_gs), testing::ExitedWithCode(0), "gs register");
}

TEST(DispatchDeathTest, StandsAsideForAProgramThatReadsSigsysFromAFile) {
  auto read_sigsys = [] {
    OpenedDispatch opened;
    sigset_t sigsys;
    sigemptyset(&sigsys);
    sigaddset(&sigsys, SIGSYS);
    pthread_sigmask(SIG_BLOCK, &sigsys, nullptr);
    raise(SIGSYS);
    const int file = signalfd(-1, &sigsys, SFD_NONBLOCK);
    signalfd_siginfo info = {};
    const bool is_read = read(file, &info, sizeof info) == sizeof info && info.ssi_signo == SIGSYS;
    const Result<std::uint64_t> losses = opened.backend->hidden_losses();
    if (!losses.ok()) std::fputs(losses.failure().reason.c_str(), stderr);
    std::_Exit(is_read && !losses.ok() ? 0 : 1);
  };
  EXPECT_EXIT(read_sigsys(), testing::ExitedWithCode(0), "signalfd");
}

TEST(DispatchDeathTest, StandsAsideForAProgramThatForbidsTheTimeStampCounter) {
  auto forbid_ticks = [] {
    OpenedDispatch opened;
    WindowBook book(*opened.backend, quiet_memory());
    WindowBook::Window* window = book.open(Reach::process);
    getppid();
    const bool is_forbidden = prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0;
    getppid();
    syscall(SYS_getppid);
    std::thread([] { getppid(); }).join();
    detail::CostData cost(&quiet_memory());
    book.close(window, cost);
    book.open(Reach::process);
    getppid();
    const Result<std::uint64_t> losses = opened.backend->hidden_losses();
    if (!losses.ok()) std::fputs(losses.failure().reason.c_str(), stderr);
    std::_Exit(is_forbidden && !losses.ok() ? 0 : 1);
  };
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer reads the clock, which kills a program that forbade it itself";
  EXPECT_EXIT(forbid_ticks(), testing::ExitedWithCode(0), "time-stamp counter");
}

}  // namespace
}  // namespace syscost::dispatch
