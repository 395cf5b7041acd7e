// SPDX-License-Identifier: MIT
//
// How many calls of a window a fault answered or changed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <initializer_list>
#include <string>
#include <thread>

#include "../sanitized.h"
#include "extras/faults/core/fault_rule.h"
#include "extras/faults/dispatch/fault_injector.h"
#include "opened.h"

namespace syscost::dispatch {
namespace {

struct Way {
  const char* name;
  Patching patching;
  bool has_stacks;
};

struct InjectedCounts {
  std::uint64_t calls = 0;
  std::uint64_t errors = 0;
  std::uint64_t altered = 0;
  std::uint64_t bytes = 0;
};

class DispatchInjected : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    ASSERT_NE(opened_.backend, nullptr);
    // UndefinedBehaviorSanitizer looks at each class once, by calls of its own.
    count(SYS_getppid, {rule_for({SYS_getppid})}, [] {});
  }

  static FaultRule rule_for(std::initializer_list<long> numbers) {
    FaultRule rule;
    for (const long number : numbers) rule.numbers.set(static_cast<std::size_t>(number));
    return rule;
  }

  /// The calls of `number` by `body`, with the rules open, the last one innermost.
  template <class Body>
  InjectedCounts count(std::uint32_t number, const std::vector<FaultRule>& rules, Body body) {
    WindowBook book(*opened_.backend, quiet_memory());
    WindowBook::Window* window = book.open(Reach::process);
    // Nothing but the body lies within the rules.
    std::vector<FaultId> ids;
    for (const FaultRule& rule : rules) {
      Result<FaultId> id = opened_.backend->extension<FaultInjector>()->open(rule);
      EXPECT_TRUE(id.ok()) << id.failure().reason;
      if (id.ok()) ids.push_back(id.value());
    }
    body();
    for (const FaultId id : ids) opened_.backend->extension<FaultInjector>()->close(id);
    detail::CostData cost(&quiet_memory());
    book.close(window, cost);
    EXPECT_EQ(cost.lost + cost.late, 0U);
    InjectedCounts counted;
    for (const auto& [id, tally] : cost.table) {
      if (id.abi != Abi::x86_64 || id.number != number) {
        EXPECT_EQ(tally.altered, 0U) << id.number;
        continue;
      }
      counted.calls += tally.calls;
      counted.errors += tally.errors.total();
      counted.altered += tally.altered;
      counted.bytes += tally.bytes;
    }
    return counted;
  }

  OpenedDispatch opened_{GetParam().patching, 0, GetParam().has_stacks};
};

INSTANTIATE_TEST_SUITE_P(Ways, DispatchInjected,
                         testing::Values(Way{"patched", Patching::allowed, false},
                                         Way{"trapped", Patching::never, false},
                                         Way{"patched_with_stacks", Patching::allowed, true}),
                         [](const auto& way) { return std::string(way.param.name); });

void ask_parent(int times) {
  for (int i = 0; i < times; ++i) getppid();
}

void expect(const InjectedCounts& counted, std::uint64_t calls, std::uint64_t errors, std::uint64_t injected) {
  EXPECT_EQ(counted.calls, calls);
  EXPECT_EQ(counted.errors, errors);
  EXPECT_EQ(counted.altered, injected);
}

TEST_P(DispatchInjected, AreCallsThatARuleAnswered) {
  FaultRule rule = rule_for({SYS_getppid});
  rule.result = -EIO;
  rule.first = 2;
  rule.step = 2;
  expect(count(SYS_getppid, {rule}, [] { ask_parent(10); }), 10, 5, 5);
  rule.result = 7;  // a success
  expect(count(SYS_getppid, {rule}, [] { ask_parent(10); }), 10, 0, 5);
  expect(count(SYS_getppid, {}, [] { ask_parent(10); }), 10, 0, 0);
}

TEST_P(DispatchInjected, AreCallsThatWaited) {
  FaultRule rule = rule_for({SYS_getppid});
  rule.first = rule.last = 3;
  rule.delay_enter_ns = 1;
  expect(count(SYS_getppid, {rule}, [] { ask_parent(4); }), 4, 0, 1);
  rule.delay_enter_ns = 0;
  rule.delay_exit_ns = 1;
  expect(count(SYS_getppid, {rule}, [] { ask_parent(4); }), 4, 0, 1);
}

/// The break has not moved, so no byte is mapped.
TEST_P(DispatchInjected, AreBreaksThatDidNotMove) {
  FaultRule rule = rule_for({SYS_brk});
  rule.result = -ENOMEM;
  sbrk(0);  // the first one, which no malloc of libc may have made, asks the kernel for the break
  const InjectedCounts counted = count(SYS_brk, {rule}, [] { EXPECT_EQ(sbrk(4096), reinterpret_cast<void*>(-1)); });
  expect(counted, 1, 0, 1);
  EXPECT_EQ(counted.bytes, 0U);
}

TEST_P(DispatchInjected, AreCallsThatWereShortenedAndNoOthers) {
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  FaultRule rule = rule_for({SYS_write, SYS_writev});
  rule.most_bytes = 3;
  expect(count(SYS_write, {rule},
               [&] {
                 EXPECT_EQ(write(null, "abcdef", 6), 3);
                 EXPECT_EQ(write(null, "abc", 3), 3);
                 EXPECT_EQ(write(null, "", 0), 0);
               }),
         3, 0, 1);
  std::array<iovec, 2> parts{iovec{const_cast<char*>("12"), 2}, iovec{const_cast<char*>("34"), 2}};
  expect(count(SYS_writev, {rule},
               [&] {
                 EXPECT_EQ(writev(null, parts.data(), 1), 2);
                 EXPECT_EQ(writev(null, parts.data(), 2), 2);
                 parts[0].iov_len = 4;
                 EXPECT_EQ(writev(null, parts.data(), 2), 3);
               }),
         3, 0, 2);
  close(null);
}

TEST_P(DispatchInjected, AreBothCallsAtTheEndOfAFullDisk) {
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  FaultRule rule = rule_for({SYS_write});
  rule.result = -ENOSPC;
  rule.after_bytes = 10;
  expect(count(SYS_write, {rule},
               [&] {
                 EXPECT_EQ(write(null, "abcdef", 6), 6);
                 EXPECT_EQ(write(null, "abcdef", 6), 4);
                 EXPECT_EQ(write(null, "ef", 2), -1);
               }),
         3, 1, 2);
  close(null);
}

TEST_P(DispatchInjected, AreCountedOnceHoweverManyRulesHitThem) {
  FaultRule outer = rule_for({SYS_getppid});
  outer.delay_enter_ns = 1;
  FaultRule inner = rule_for({SYS_getppid});
  inner.result = -EIO;
  inner.last = 2;
  expect(count(SYS_getppid, {outer, outer, inner}, [] { ask_parent(5); }), 5, 2, 5);
}

TEST_P(DispatchInjected, AreNotCallsThatAreOnlyWatched) {
  FaultRule watch = rule_for({SYS_getppid});
  watch.is_watch = watch.keeps_hits = true;
  expect(count(SYS_getppid, {watch}, [] { ask_parent(5); }), 5, 0, 0);
}

TEST_P(DispatchInjected, AreThoseOfEachThread) {
  FaultRule rule = rule_for({SYS_getppid});
  rule.result = -EIO;
  const auto two_threads = [] {
    std::thread one([] { ask_parent(100); });
    std::thread two([] { ask_parent(100); });
    ask_parent(3);
    one.join();
    two.join();
  };
  expect(count(SYS_getppid, {rule}, two_threads), 203, 3, 3);
  rule.is_process_wide = true;
  rule.first = 51;
  expect(count(SYS_getppid, {rule}, two_threads), 203, 153, 153);
}

/// Calls that the stub adapts by nature.
TEST_P(DispatchInjected, AreCallsThatNeedCare) {
  FaultRule rule = rule_for({SYS_rt_sigprocmask});
  rule.result = -EINVAL;
  const auto ask_mask = [] {
    sigset_t set;
    EXPECT_NE(pthread_sigmask(SIG_BLOCK, nullptr, &set), 0);
  };
  expect(count(SYS_rt_sigprocmask, {rule}, ask_mask), 1, 1, 1);
  FaultRule delay = rule_for({SYS_rt_sigprocmask});
  delay.delay_exit_ns = 1;  // does nothing for such a call
  const auto ask_again = [] {
    sigset_t set;
    EXPECT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &set), 0);
  };
  expect(count(SYS_rt_sigprocmask, {delay}, ask_again), 1, 0, 0);
  delay.delay_enter_ns = 1;
  expect(count(SYS_rt_sigprocmask, {delay}, ask_again), 1, 0, 1);
}

/// Between the question and the count of a vfork, its child runs on the same stack.
TEST_P(DispatchInjected, AreCallsThatMakeAProcess) {
  for (const long number : {SYS_vfork, SYS_clone}) {
    if (number == SYS_vfork && kHasRuntimeThread) continue;  // ThreadSanitizer makes a fork() of it
    FaultRule rule = rule_for({number});
    rule.delay_enter_ns = 1;
    const auto make_child = [number] {
      const pid_t child = number == SYS_vfork ? vfork() : static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
      if (child == 0) _exit(0);
      EXPECT_EQ(waitpid(child, nullptr, 0), child);
    };
    expect(count(static_cast<std::uint32_t>(number), {rule}, make_child), 1, 0, 1);
    expect(count(static_cast<std::uint32_t>(number), {}, make_child), 1, 0, 0);
  }
}

/// A call that begins in one segment and ends in another one is written to a log.
TEST_P(DispatchInjected, AreCallsAcrossTheBoundaryOfAWindow) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  FaultRule rule = rule_for({SYS_read});
  rule.most_bytes = 1;
  rule.is_process_wide = true;
  const Result<FaultId> id = opened_.backend->extension<FaultInjector>()->open(rule);
  ASSERT_TRUE(id.ok());
  WindowBook book(*opened_.backend, quiet_memory());
  WindowBook::Window* outer = book.open(Reach::process);
  std::thread reader([&] {
    std::array<char, 4> text{};
    EXPECT_EQ(read(ends[0], text.data(), text.size()), 1);
  });
  while (opened_.backend->extension<FaultInjector>()->counts(id.value()).matches == 0) std::this_thread::yield();
  // The call is shortened, and returns after this boundary.
  WindowBook::Window* inner = book.open(Reach::process);
  EXPECT_EQ(write(ends[1], "abcd", 4), 4);
  reader.join();
  detail::CostData carried(&quiet_memory());
  book.close(inner, carried);
  detail::CostData cost(&quiet_memory());
  book.close(outer, cost);
  opened_.backend->extension<FaultInjector>()->close(id.value());
  std::uint64_t altered = 0;
  for (const auto& [call, tally] : cost.table) altered += tally.altered;
  EXPECT_EQ(altered, 1U);
  for (const auto& [call, tally] : carried.table) EXPECT_LE(tally.altered, tally.calls);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace syscost::dispatch
