// SPDX-License-Identifier: MIT
//
// Rules by which calls fail: which calls they hit, what the program sees, and what is counted.
#include "extras/faults/dispatch/fault_injector.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "../sanitized.h"
#include "core/tables/fault_choice.h"
#include "faulted.h"

namespace syscost::dispatch {
namespace {

using DispatchFaults = FaultedDispatch;
INSTANTIATE_TEST_SUITE_P(Ways, DispatchFaults, testing::Values(Patching::allowed, Patching::never),
                         [](const auto& way) { return way.param == Patching::allowed ? "patched" : "trapped"; });

TEST_P(DispatchFaults, FailTheNthCallAndNoOther) {
  FaultRule rule = rule_for({SYS_getppid}, ENOSPC);
  rule.first = rule.last = 3;
  const FaultId id = open(rule);
  std::array<int, 5> errors{};
  for (int& error : errors) error = error_of_getppid();
  injector_->close(id);
  EXPECT_EQ(errors, (std::array<int, 5>{0, 0, ENOSPC, 0, 0}));
  EXPECT_EQ(injector_->counts(id).matches, 5U);
  EXPECT_EQ(injector_->counts(id).hits, 1U);
  EXPECT_EQ(error_of_getppid(), 0);
}

TEST_P(DispatchFaults, AreCountedWithTheirError) {
  FaultRule rule = rule_for({SYS_getppid}, EIO);
  rule.first = 2;
  rule.step = 2;
  const FaultId id = open(rule);
  WindowBook book(*opened_.backend, quiet_memory());
  WindowBook::Window* window = book.open(Reach::process);
  for (int i = 0; i < 10; ++i) getppid();
  detail::CostData cost(&quiet_memory());
  book.close(window, cost);
  injector_->close(id);
  const Tally& tally = cost.table.at({Abi::x86_64, SYS_getppid});
  EXPECT_EQ(tally.calls, 10U);
  ASSERT_EQ(tally.errors.size(), 1U);
  EXPECT_EQ(tally.errors.begin()->error, EIO);
  EXPECT_EQ(tally.errors.begin()->count, 5U);
}

TEST_P(DispatchFaults, HitDirectCallsAndKeepAllRegisters) {
  const FaultId id = open(rule_for({SYS_getpgid}, EPERM));
  errno = 0;
  EXPECT_EQ(syscall(SYS_getpgid, 0), -1);
  EXPECT_EQ(errno, EPERM);
  long result = SYS_getpgid;
  long rdi = 0;
  long rsi = 11;
  long rdx = 12;
  long r10 = 13;
  asm volatile(
      "movq %4, %%r10\n\t"
      "syscall\n\t"
      "movq %%r10, %4"
      : "+a"(result), "+D"(rdi), "+S"(rsi), "+d"(rdx), "+r"(r10)
      :
      : "rcx", "r10", "r11", "memory");
  EXPECT_EQ(result, -EPERM);
  EXPECT_EQ(rdi + rsi + rdx + r10, 36);
  injector_->close(id);
}

TEST_P(DispatchFaults, OfOneThreadHitNoOther) {
  const FaultId id = open(rule_for({SYS_getppid}, EIO));
  int other = -1;
  std::thread([&] { other = error_of_getppid(); }).join();
  EXPECT_EQ(other, 0);
  EXPECT_EQ(error_of_getppid(), EIO);
  EXPECT_EQ(injector_->counts(id).matches, 1U);
  injector_->close(id);
}

TEST_P(DispatchFaults, OfTheProcessHitEveryThread) {
  FaultRule rule = rule_for({SYS_getppid}, EIO);
  rule.is_process_wide = true;
  rule.first = 1001;
  const FaultId id = open(rule);
  std::atomic<int> failed{0};
  const auto body = [&] {
    for (int i = 0; i < 1000; ++i) failed += error_of_getppid() == EIO ? 1 : 0;
  };
  std::thread one(body);
  std::thread two(body);
  one.join();
  two.join();
  injector_->close(id);
  EXPECT_EQ(failed, 1000);
  EXPECT_EQ(injector_->counts(id).matches, 2000U);
}

TEST_P(DispatchFaults, MayNumberTheCallsOfEachThread) {
  FaultRule rule = rule_for({SYS_getppid}, EIO);
  rule.is_process_wide = rule.is_per_thread = true;
  rule.first = rule.last = 3;
  const FaultId id = open(rule);
  const auto body = [](std::string& seen) {
    for (int i = 0; i < 5; ++i) seen += error_of_getppid() == EIO ? 'x' : '.';
  };
  std::array<std::string, 4> seen;
  // One after the other: each takes the record of the one before. Then two at a time.
  std::thread(body, std::ref(seen[0])).join();
  std::thread(body, std::ref(seen[1])).join();
  std::thread other(body, std::ref(seen[2]));
  body(seen[3]);
  other.join();
  EXPECT_EQ(seen, (std::array<std::string, 4>{"..x..", "..x..", "..x..", "..x.."}));
  EXPECT_EQ(injector_->counts(id).matches, 20U);
  EXPECT_EQ(injector_->counts(id).hits, 4U);
  EXPECT_EQ(injector_->counts(id).unnumbered, 0U);
  injector_->close(id);
  // The place has another rule: it begins to count.
  const FaultId next = open(rule);
  std::string again;
  body(again);
  EXPECT_EQ(again, "..x..");
  injector_->close(next);
}

TEST_P(DispatchFaults, TheInnermostAnswersAndTheOthersDoNotSeeTheCall) {
  FaultRule outer = rule_for({SYS_getppid}, EIO);
  outer.first = outer.last = 2;
  const FaultId outer_id = open(outer);
  FaultRule inner = rule_for({SYS_getppid}, EPERM);
  inner.first = inner.last = 1;
  const FaultId inner_id = open(inner);
  EXPECT_EQ(error_of_getppid(), EPERM);  // the outer one does not see it
  EXPECT_EQ(error_of_getppid(), 0);      // its first
  injector_->close(inner_id);
  EXPECT_EQ(error_of_getppid(), EIO);  // its second
  injector_->close(outer_id);
  EXPECT_EQ(error_of_getppid(), 0);
}

TEST_P(DispatchFaults, WatchesSeeWhatAnInnerRuleAnswered) {
  FaultRule watch = rule_for({SYS_getppid}, 0);
  watch.is_watch = watch.keeps_hits = true;
  const FaultId watch_id = open(watch);
  const FaultId inner_id = open(rule_for({SYS_getppid}, EPERM));
  EXPECT_EQ(error_of_getppid(), EPERM);
  injector_->close(inner_id);
  EXPECT_EQ(error_of_getppid(), 0);
  injector_->close(watch_id);
  EXPECT_EQ(injector_->counts(watch_id).hits, 2U);
  EXPECT_EQ(injector_->hits(watch_id).size(), 2U);
}

/// As the kernel's: libc takes an errno for a break that has moved, and malloc uses what is not there.
TEST_P(DispatchFaults, LetBrkReturnTheBreak) {
  sbrk(0);  // the first one, which no malloc of libc may have made, asks the kernel for the break
  const long now = syscall(SYS_brk, 0);
  FaultRule rule = rule_for({SYS_brk}, ENOMEM);
  rule.keeps_hits = true;
  const FaultId id = open(rule);
  EXPECT_EQ(syscall(SYS_brk, now + 4096), now);
  errno = 0;
  EXPECT_EQ(sbrk(4096), reinterpret_cast<void*>(-1));
  EXPECT_EQ(errno, ENOMEM);
  injector_->close(id);
  EXPECT_EQ(syscall(SYS_brk, 0), now);
  ASSERT_EQ(injector_->hits(id).size(), 2U);
  EXPECT_EQ(injector_->hits(id)[0].result, now);
}

TEST_P(DispatchFaults, KeepTheArgumentsOfHits) {
  FaultRule rule = rule_for({SYS_lseek}, EINVAL);
  rule.keeps_hits = true;
  const FaultId id = open(rule);
  EXPECT_EQ(lseek(77, 12, SEEK_CUR), -1);
  injector_->close(id);
  const std::vector<FaultHit> hits = injector_->hits(id);
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].number, SYS_lseek);
  EXPECT_EQ(hits[0].arguments[0], 77U);
  EXPECT_EQ(hits[0].arguments[1], 12U);
  EXPECT_EQ(hits[0].arguments[2], static_cast<std::uint64_t>(SEEK_CUR));
  EXPECT_EQ(hits[0].result, -EINVAL);
  EXPECT_EQ(hits[0].thread, static_cast<std::uint32_t>(gettid()));
}

TEST_P(DispatchFaults, KeepThePathsOfHits) {
  FaultRule rule = rule_for({SYS_openat, SYS_rename}, ENOENT);
  rule.keeps_hits = true;
  const FaultId id = open(rule);
  const std::string name(300, 'x');
  EXPECT_EQ(openat(AT_FDCWD, name.c_str(), O_RDONLY), -1);
  EXPECT_EQ(rename("from", "to"), -1);
  EXPECT_EQ(syscall(SYS_rename, 8, "to"), -1);
  injector_->close(id);
  const std::vector<FaultHit> hits = injector_->hits(id);
  ASSERT_EQ(hits.size(), 3U);
  ASSERT_EQ(hits[0].paths.size(), 1U);
  EXPECT_EQ(hits[0].paths[0].argument, 1U);
  EXPECT_EQ(hits[0].paths[0].text, name.substr(0, 250));
  EXPECT_TRUE(hits[0].paths[0].is_cut);
  ASSERT_EQ(hits[1].paths.size(), 2U);
  EXPECT_EQ(hits[1].paths[0].text, "from");
  EXPECT_FALSE(hits[1].paths[0].is_cut);
  EXPECT_EQ(hits[1].paths[1].text, "to");
  ASSERT_EQ(hits[2].paths.size(), 1U);
  EXPECT_EQ(hits[2].paths[0].argument, 1U);
}

TEST_P(DispatchFaults, AreInertInAForkChild) {
  FaultRule rule = rule_for({SYS_getppid}, EIO);
  rule.is_process_wide = true;
  const FaultId id = open(rule);
  const pid_t child = fork();
  if (child == 0) _exit(error_of_getppid());
  int status = -1;
  waitpid(child, &status, 0);
  injector_->close(id);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_P(DispatchFaults, AreInertWhileTheThreadWorksForSyscost) {
  const FaultId id = open(rule_for({SYS_getppid}, EIO));
  void* const thread = injector_->begin_own_work();
  EXPECT_EQ(error_of_getppid(), 0);
  injector_->end_own_work(thread);
  EXPECT_EQ(error_of_getppid(), EIO);
  EXPECT_EQ(injector_->counts(id).matches, 1U);
  injector_->close(id);
}

/// Calls that the stub adapts are answered without any of it.
TEST_P(DispatchFaults, FailCallsThatNeedCare) {
  if (kHasRuntimeThread) GTEST_SKIP() << "ThreadSanitizer makes such calls itself, and ends the process if they fail";
  const FaultId id = open(rule_for({SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_clone, SYS_clone3, SYS_fork, SYS_vfork,
                                    SYS_execve, SYS_sigaltstack, SYS_ppoll, SYS_prctl},
                                   EAGAIN));
  struct sigaction action = {};
  action.sa_handler = SIG_IGN;
  EXPECT_EQ(sigaction(SIGUSR1, &action, nullptr), -1);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGSYS);
  EXPECT_NE(pthread_sigmask(SIG_BLOCK, &set, nullptr), 0);
  errno = 0;
  EXPECT_EQ(fork(), -1);
  EXPECT_EQ(errno, EAGAIN);
  pthread_t thread;
  EXPECT_EQ(pthread_create(
                &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr),
            EAGAIN);
  injector_->close(id);
  std::thread([] {}).join();
  struct sigaction after = {};
  EXPECT_EQ(sigaction(SIGUSR1, nullptr, &after), 0);
  EXPECT_EQ(after.sa_handler, SIG_DFL);
}

TEST_P(DispatchFaults, ByChanceAreTheSameForTheSameSeed) {
  const auto run = [&](std::uint64_t seed) {
    FaultRule rule = rule_for({SYS_getppid}, EIO);
    rule.probability = 0.25;
    rule.seed = seed;
    const FaultId id = open(rule);
    std::string errors;
    for (int i = 0; i < 1000; ++i) errors += error_of_getppid() != 0 ? 'x' : '.';
    injector_->close(id);
    return errors;
  };
  const std::string first = run(7);
  EXPECT_EQ(run(7), first);
  EXPECT_NE(run(8), first);
  std::string expected;
  for (std::uint64_t n = 1; n <= 1000; ++n) expected += draw(7, n) < std::uint64_t{1} << 62 ? 'x' : '.';
  EXPECT_EQ(first, expected);
}

TEST_P(DispatchFaults, DelayACallThatIsMadeAllTheSame) {
  FaultRule rule = rule_for({SYS_getppid}, 0);
  rule.delay_enter_ns = rule.delay_exit_ns = 2'000'000;
  const FaultId id = open(rule);
  timespec before{};
  timespec after{};
  clock_gettime(CLOCK_MONOTONIC, &before);
  EXPECT_EQ(getppid(), getppid());
  clock_gettime(CLOCK_MONOTONIC, &after);
  injector_->close(id);
  const auto ns = (after.tv_sec - before.tv_sec) * 1'000'000'000 + after.tv_nsec - before.tv_nsec;
  EXPECT_GE(ns, 8'000'000);  // never less, however fast the machine
  EXPECT_EQ(opened_.count(SYS_nanosleep, [] { getppid(); }), 0U);
}

}  // namespace
}  // namespace syscost::dispatch
