// SPDX-License-Identifier: MIT
//
// Signals, delays and the supervisor's death while a call waits for its answer.
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>
#include <utility>

#include "seccomp_faults.h"

namespace syscost::seccomp {
namespace {

volatile std::sig_atomic_t g_signals = 0;
void note_signal(int) {
  g_signals = g_signals + 1;
}

void handle(int signal, int flags) {
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

TEST_F(SeccompFaults, AnInjectedEintrIsNotMadeAgainAlthoughAHandlerRestarts) {
  EXPECT_EQ(with_backend([](Backend& backend) {
              handle(SIGUSR1, SA_RESTART);
              int ends[2] = {-1, -1};
              REQUIRE(pipe(ends) == 0);
              // The signal comes while the call waits, and is pending when it is answered.
              FaultRule rule = rule_for({SYS_read}, EINTR);
              rule.last = 1;
              FaultRule wait = rule_for({SYS_read}, 0);
              wait.delay_enter_ns = 20'000'000;
              open_rule(backend, rule);
              open_rule(backend, wait);
              std::thread sender([self = pthread_self()] { pthread_kill(self, SIGUSR1); });
              char byte = 0;
              REQUIRE(read(ends[0], &byte, 1) == -1 && errno == EINTR);
              sender.join();
              REQUIRE(g_signals == 1);
            }),
            0);
}

TEST_F(SeccompFaults, ACallThatTheKernelMakesAgainIsASecondMatchAsInStrace) {
  EXPECT_EQ(with_backend([](Backend& backend) {
              handle(SIGUSR1, SA_RESTART);
              int ends[2] = {-1, -1};
              REQUIRE(pipe(ends) == 0);
              FaultRule rule = rule_for({SYS_read}, EIO);
              rule.first = rule.last = 2;
              const FaultId id = open_rule(backend, rule);
              // From the first match on, the signal finds the call either in the kernel or about to enter it.
              std::thread sender([&, self = pthread_self()] {
                while (backend.extension<FaultInjector>()->counts(id).matches == 0) sched_yield();
                pthread_kill(self, SIGUSR1);
              });
              char byte = 0;
              REQUIRE(read(ends[0], &byte, 1) == -1 && errno == EIO);
              sender.join();
              REQUIRE(g_signals == 1 && backend.extension<FaultInjector>()->counts(id).matches == 2);
            }),
            0);
}

/// Before 6.18 (and the stable updates of October 2025) a signal that comes just when a call is answered makes the
/// kernel drop the answer and make the call again: "seccomp: Fix a race with WAIT_KILLABLE_RECV if the tracer replies
/// too fast".
bool keeps_every_answer() {
  utsname kernel{};
  int major = 0;
  int minor = 0;
  return uname(&kernel) == 0 && std::sscanf(kernel.release, "%d.%d", &major, &minor) == 2 &&
         std::pair(major, minor) >= std::pair(6, 18);
}

TEST_F(SeccompFaults, ASignalStormNeitherCountsACallTwiceNorLosesOne) {
  if (!keeps_every_answer()) GTEST_SKIP() << "needs Linux 6.18: an older kernel may drop an answer";
  EXPECT_EQ(with_backend([](Backend& backend) {
              handle(SIGALRM, SA_RESTART);
              FaultRule rule = rule_for({SYS_getppid}, EIO);
              rule.first = rule.step = 3;
              const FaultId id = open_rule(backend, rule);
              const itimerval often{{0, 50}, {0, 50}};
              REQUIRE(setitimer(ITIMER_REAL, &often, nullptr) == 0);
              constexpr int kCalls = 6000;
              int failed = 0;
              int out_of_order = 0;
              for (int i = 1; i <= kCalls; ++i) {
                const bool is_failed = error_of_getppid() == EIO;
                failed += is_failed ? 1 : 0;
                out_of_order += is_failed != (i % 3 == 0) ? 1 : 0;
              }
              const itimerval never{};
              REQUIRE(setitimer(ITIMER_REAL, &never, nullptr) == 0);
              REQUIRE(g_signals > 0);
              REQUIRE(failed == kCalls / 3 && out_of_order == 0);
              REQUIRE(backend.extension<FaultInjector>()->counts(id).matches == kCalls);
            }),
            0);
}

TEST_F(SeccompFaults, AThreadThatWaitsDoesNotHoldUpTheOthers) {
  EXPECT_EQ(with_backend([](Backend& backend) {
              constexpr auto kDelay = std::chrono::milliseconds(100);
              std::atomic<bool> is_over{false};
              std::atomic<int> calls{0};
              std::thread other([&] {
                while (!is_over) calls += getppid() > 0 ? 1 : 0;
              });
              while (calls == 0) sched_yield();
              FaultRule rule = rule_for({SYS_getuid}, EIO);
              rule.delay_enter_ns = std::chrono::nanoseconds(kDelay).count();
              const FaultId id = open_rule(backend, rule);
              const int before = calls;
              const auto start = std::chrono::steady_clock::now();
              REQUIRE(syscall(SYS_getuid) == -1 && errno == EIO);
              REQUIRE(std::chrono::steady_clock::now() - start >= kDelay);
              REQUIRE(calls > before);
              backend.extension<FaultInjector>()->close(id);
              rule.result.reset();
              open_rule(backend, rule);
              REQUIRE(syscall(SYS_getuid) >= 0);  // made, after the delay
              REQUIRE(std::chrono::steady_clock::now() - start >= 2 * kDelay);
              is_over = true;
              other.join();
            }),
            0);
}

TEST_F(SeccompFaults, ACallThatWaitsIsAnsweredByTheNextSupervisorIfOneIsKilled) {
  EXPECT_EQ(with_backend([](Backend& backend) {
              const pid_t server = find_supervisor(getpid(), "syscost-count");
              REQUIRE(server != 0);
              std::atomic<bool> is_open{false};
              int error = 0;
              std::thread waits([&] {
                FaultRule rule = rule_for({SYS_getuid}, EIO);
                rule.delay_enter_ns = 300'000'000;
                open_rule(backend, rule);
                is_open = true;
                error = syscall(SYS_getuid) == -1 ? errno : 0;
              });
              while (!is_open) sched_yield();
              // The killer may come before the call or after it: the answer is the same.
              REQUIRE(kill(server, SIGKILL) == 0);
              waits.join();
              REQUIRE(error == EIO);
              REQUIRE(!backend.hidden_losses().ok());
            }),
            0);
}

}  // namespace
}  // namespace syscost::seccomp
