// SPDX-License-Identifier: MIT
//
// A loop's timed passes: nothing is dispatched, and what the thread does meanwhile is known afterwards.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>

#include "../sanitized.h"
#include "backends/dispatch/stub/common/call.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/common/state.h"
#include "opened.h"

namespace syscost::dispatch {
namespace {

TEST(Dispatch, IsNotAloneBesideAThreadThatATimedPassMade) {
  OpenedDispatch opened;
  ASSERT_NE(opened.backend, nullptr);
  ASSERT_TRUE(opened.backend->detach().ok());
  std::atomic<bool> is_over{false};
  std::thread made([&] { is_over.wait(false); });
  // As if its clone had been made where nothing is patched.
  std::atomic_ref(syscost_is_alone).store(1);
  ASSERT_TRUE(opened.backend->attach().ok());
  EXPECT_FALSE(std::atomic_ref(syscost_is_alone).load() != 0);
  is_over = true;
  is_over.notify_all();
  made.join();
}

TEST(Dispatch, LosesTheCallsOfAThreadThatATimedPassMadeAndSaysSo) {
  if (kHasRuntimeThread) GTEST_SKIP() << "the sanitizer has a thread that is counted, too";
  OpenedDispatch opened;
  ASSERT_NE(opened.backend, nullptr);
  ASSERT_TRUE(opened.backend->detach().ok());
  std::thread([] {}).join();
  std::atomic<bool> is_over{false};
  std::thread made([&] { is_over.wait(false); });
  ASSERT_TRUE(opened.backend->attach().ok());
  // Armed ones are seen, whenever they are made.
  std::thread seen([&] { is_over.wait(false); });
  EXPECT_EQ(opened.backend->hidden_losses().value(), 1U);
  EXPECT_EQ(opened.backend->hidden_losses().value(), 2U) << "one event for each time that somebody asks";
  is_over = true;
  is_over.notify_all();
  made.join();
  seen.join();
  EXPECT_EQ(opened.backend->hidden_losses().value(), 2U) << "it has ended";
}

TEST(Dispatch, CountsNothingOfAThreadInATimedPassNorOfThreadsItMakes) {
  OpenedDispatch opened;
  ASSERT_NE(opened.backend, nullptr);
  ASSERT_TRUE(opened.backend->detach().ok());
  EXPECT_EQ(opened.count(SYS_getppid,
                         [] {
                           syscall(SYS_getppid);
                           std::thread([] { syscall(SYS_getppid); }).join();
                         }),
            0U);
  ASSERT_TRUE(opened.backend->attach().ok());
  EXPECT_EQ(opened.count(SYS_getppid,
                         [] {
                           syscall(SYS_getppid);
                           std::thread([] { syscall(SYS_getppid); }).join();
                         }),
            2U);
}

constexpr bool kHasSignalStacks = kIsSanitized && !kHasRuntimeThread;  // AddressSanitizer

TEST(Dispatch, TimesNothingBesideThreadsOfASanitizer) {
  OpenedDispatch opened;
  ASSERT_NE(opened.backend, nullptr);
  std::atomic<bool> is_there{false};
  std::atomic<bool> is_over{false};
  std::thread beside([&] {
    is_there = true;
    is_there.notify_all();
    is_over.wait(false);
  });
  is_there.wait(false);
  EXPECT_EQ(opened.backend->detach().ok(), !kHasSignalStacks);
  if (!kHasSignalStacks) {
    EXPECT_TRUE(opened.backend->attach().ok());
  }
  is_over = true;
  is_over.notify_all();
  beside.join();
  EXPECT_TRUE(opened.backend->detach().ok());
  ASSERT_TRUE(opened.backend->attach().ok());
}

TEST(Dispatch, TakesSigsysOverAgainAfterATimedPass) {
  OpenedDispatch opened(Patching::never);
  ASSERT_NE(opened.backend, nullptr);
  ASSERT_TRUE(opened.backend->detach().ok());
  signal(SIGSYS, SIG_IGN);
  sigset_t all;
  sigfillset(&all);
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &all, &before);
  ASSERT_TRUE(opened.backend->attach().ok());
  EXPECT_EQ(opened.count(SYS_getppid, [] { syscall(SYS_getppid); }), 1U);
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, &before, &now);
  EXPECT_EQ(sigismember(&now, SIGSYS), 1);
  struct sigaction action = {};
  sigaction(SIGSYS, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_IGN);
  signal(SIGSYS, SIG_DFL);
}

// ---- signals --------------------------------------------------------------------------------------------------------

std::atomic<int> g_handled{0};

void count_signal(int /*signal*/) {
  ++g_handled;
}

/// SIGSYS is blocked, or not, in the mask of the calling thread.
void block_sigsys(bool is_blocked) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGSYS);
  pthread_sigmask(is_blocked ? SIG_BLOCK : SIG_UNBLOCK, &only, nullptr);
}
bool blocks_sigsys() {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return sigismember(&mask, SIGSYS) == 1;
}
bool is_sigsys_pending() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGSYS) == 1;
}

/// The handler that the kernel has, past every patched site.
void (*handler_in_kernel(int signal))(int) {
  signal_safe::KernelSigaction action{};
  syscost_raw_syscall(SYS_rt_sigaction, signal, 0, reinterpret_cast<long>(&action), sizeof action.mask);
  return action.handler;
}

/// The things that a pass of a loop may do with signals, by call sites of libc that were patched before.
class SignalsInATimedPass : public testing::TestWithParam<Patching> {
 protected:
  SignalsInATimedPass() : opened_(GetParam()) {
    g_handled = 0;
    // Some threads of other tests ended after their backend, so their records are still marked as used.
    for (signal_safe::Thread& thread : syscost_threads) {
      if (&thread != signal_safe::gs_base()) std::atomic_ref(thread.is_used).store(0);
    }
    // Trapped once, the sites are known.
    opened_.count(SYS_getppid, [] {
      signal(SIGSYS, SIG_DFL);
      signal(SIGUSR1, SIG_DFL);
      block_sigsys(false);
      is_sigsys_pending();
    });
    EXPECT_TRUE(opened_.backend->hidden_losses().ok());
  }
  ~SignalsInATimedPass() override {
    signal(SIGSYS, SIG_DFL);
    signal(SIGUSR1, SIG_DFL);
    block_sigsys(false);
  }

  OpenedDispatch opened_;
};

TEST_P(SignalsInATimedPass, AreHandledByTheProgramItself) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer puts its own handler in front of the program's";
  ASSERT_TRUE(opened_.backend->detach().ok());
  signal(SIGSYS, count_signal);
  signal(SIGUSR1, count_signal);
  EXPECT_EQ(handler_in_kernel(SIGSYS), count_signal);
  EXPECT_EQ(handler_in_kernel(SIGUSR1), count_signal);
  raise(SIGSYS);
  raise(SIGUSR1);
  EXPECT_EQ(g_handled, 2);
  ASSERT_TRUE(opened_.backend->attach().ok());
  raise(SIGSYS);
  raise(SIGUSR1);
  EXPECT_EQ(g_handled, 4);
  EXPECT_EQ(signal(SIGSYS, SIG_DFL), count_signal);
}

TEST_P(SignalsInATimedPass, WaitInTheKernelWhileSigsysIsBlocked) {
  signal(SIGSYS, count_signal);
  block_sigsys(true);
  raise(SIGSYS);
  ASSERT_TRUE(opened_.backend->detach().ok());
  EXPECT_TRUE(blocks_sigsys());
  EXPECT_TRUE(is_sigsys_pending());
  raise(SIGSYS);
  EXPECT_EQ(g_handled, 0);
  ASSERT_TRUE(opened_.backend->attach().ok());
  EXPECT_TRUE(is_sigsys_pending());
  EXPECT_EQ(g_handled, 0);
  EXPECT_EQ(opened_.count(SYS_getppid, [] { syscall(SYS_getppid); }), 1U);
  block_sigsys(false);
  EXPECT_EQ(g_handled, 1);
}

TEST_P(SignalsInATimedPass, AreNotBlockedAnyMoreWhenThePassUnblocksThem) {
  signal(SIGSYS, count_signal);
  block_sigsys(true);
  ASSERT_TRUE(opened_.backend->detach().ok());
  block_sigsys(false);
  ASSERT_TRUE(opened_.backend->attach().ok());
  EXPECT_FALSE(blocks_sigsys());
  raise(SIGSYS);
  EXPECT_EQ(g_handled, 1);
}

INSTANTIATE_TEST_SUITE_P(Dispatch, SignalsInATimedPass, testing::Values(Patching::allowed, Patching::never),
                         [](const auto& instance) {
                           return std::string(instance.param == Patching::allowed ? "patched" : "trapped");
                         });

TEST(Dispatch, KeepsTheActionsWhereAnOlderThreadHasTheLoop) {
  std::atomic<Backend*> backend{nullptr};
  std::thread older([&] {
    backend.wait(nullptr);
    EXPECT_TRUE(backend.load()->detach().ok());
    EXPECT_TRUE(backend.load()->attach().ok());
  });
  OpenedDispatch opened(Patching::never);
  backend = opened.backend.get();
  backend.notify_one();
  older.join();
  EXPECT_EQ(opened.count(SYS_getppid, [] { syscall(SYS_getppid); }), 1U);
}

}  // namespace
}  // namespace syscost::dispatch
