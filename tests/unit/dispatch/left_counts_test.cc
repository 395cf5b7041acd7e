// SPDX-License-Identifier: MIT
//
// A handler interrupts a call that the stub treats with care, and leaves it by a jump. The call is counted once.
#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "opened.h"

namespace syscost::dispatch {
namespace {

sigjmp_buf g_way_out;

/// Calls that a handler interrupts and leaves, a hundred times each.
struct Left {
  const char* name;
  std::uint32_t number;
  void (*call)();
  std::uint64_t made = 1;  ///< Calls of this number, each time, with those of sigsetjmp and siglongjmp.
};

class LeftCounts : public testing::TestWithParam<Left> {};

TEST_P(LeftCounts, AreRight) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer has handlers of its own";
  struct sigaction action = {};
  action.sa_handler = [](int) { siglongjmp(g_way_out, 1); };
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
  ASSERT_EQ(sigaction(SIGSYS, &action, nullptr), 0);
  for (const Patching patching : {Patching::never, Patching::allowed}) {
    OpenedDispatch opened(patching);
    ASSERT_NE(opened.backend, nullptr);
    constexpr std::uint64_t kTimes = 100;
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(opened.count(GetParam().number,
                             [] {
                               static std::uint64_t i = 0;
                               for (i = 0; i < kTimes; ++i) {
                                 if (sigsetjmp(g_way_out, 1) == 0) GetParam().call();
                               }
                             }),
                kTimes * GetParam().made);
      ASSERT_TRUE(opened.backend->hidden_losses().ok());  // patches what was trapped
    }
  }
  signal(SIGUSR1, SIG_DFL);
  signal(SIGSYS, SIG_DFL);
}

/// The second call unblocks what is pending, and is left.
void unblock_sigsys() {
  sigset_t sigsys;
  sigemptyset(&sigsys);
  sigaddset(&sigsys, SIGSYS);
  sigprocmask(SIG_BLOCK, &sigsys, nullptr);
  syscall(SYS_tgkill, getpid(), gettid(), SIGSYS);
  sigprocmask(SIG_UNBLOCK, &sigsys, nullptr);
}

void suspend() {
  sigset_t usr1;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  sigprocmask(SIG_BLOCK, &usr1, nullptr);
  kill(getpid(), SIGUSR1);
  sigemptyset(&usr1);
  sigsuspend(&usr1);
}

INSTANTIATE_TEST_SUITE_P(Dispatch, LeftCounts,
                         testing::Values(Left{"tgkill", SYS_tgkill, [] { raise(SIGUSR1); }},
                                         Left{"tgkill_of_sigsys", SYS_tgkill, [] { raise(SIGSYS); }},
                                         Left{"rt_sigprocmask_of_sigsys", SYS_rt_sigprocmask, unblock_sigsys, 4},
                                         Left{"kill", SYS_kill, [] { kill(getpid(), SIGUSR1); }},
                                         Left{"rt_sigsuspend", SYS_rt_sigsuspend, suspend}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace syscost::dispatch
