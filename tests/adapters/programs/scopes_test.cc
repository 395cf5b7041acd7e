// SPDX-License-Identifier: MIT
//
// Scopes in numbers: thousands in one test, one thread after another, more threads than lanes. Each test checks what
// its scopes say; limits_test.py reads the rows.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "syscost/syscost.h"

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

int wrong_counts(int scopes) {
  int wrong = 0;
  for (int i = 0; i < scopes; ++i) {
    syscost::Scope scope("part");
    call(i % 3);
    if (i % 2 == 1) syscall(SYS_close, -1);
    syscost::Cost cost = scope.stop();
    if (cost.calls("getppid") != i % 3 || cost.calls() != i % 3 + i % 2) ++wrong;
  }
  return wrong;
}

TEST(ManyScopes, FiveThousand) {
  EXPECT_EQ(wrong_counts(5000), 0);
}
TEST(ManyScopes, MoreThanAreKept) {
  EXPECT_EQ(wrong_counts(10'100), 0);
}
TEST(ManyScopes, NextTest) {
  EXPECT_EQ(wrong_counts(3), 0);
}

TEST(Lanes, AHundredThreadsOneAfterAnother) {
  for (int i = 0; i < 100; ++i) {
    std::thread([i] { EXPECT_EQ(syscost::measure([i] { call(i); }).calls("getppid"), i); }).join();
  }
}

// Threads that end without closing their scope: they were killed, or their code forgot it.
TEST(Lanes, ThreadsThatLeaveTheirScopeOpen) {
  std::vector<std::unique_ptr<syscost::Scope>> left(40);
  for (std::unique_ptr<syscost::Scope>& scope : left) {
    std::thread([&scope] {
      scope = std::make_unique<syscost::Scope>();
      call(2);
    }).join();
  }
  EXPECT_EQ(syscost::measure([] { call(3); }).calls("getppid"), 3);
  // Some scopes ended when a later thread took their lane. The others still count a thread that has ended.
  for (std::unique_ptr<syscost::Scope>& scope : left) EXPECT_EQ(scope->stop().calls("getppid"), 2);
  EXPECT_EQ(syscost::measure([] { call(4); }).calls("getppid"), 4);
}

constexpr int kLanes = 16;

TEST(Lanes, OneThreadMoreThanThereAre) {
  std::atomic<int> inside{0};
  std::atomic<bool> may_end{false};
  std::vector<syscost::Count> counts;
  for (int i = 0; i < kLanes; ++i) counts.emplace_back(0U);
  std::vector<std::thread> threads;
  for (int i = 0; i < kLanes; ++i) {
    threads.emplace_back([&, i] {
      syscost::Scope scope;
      call(i);
      ++inside;
      while (!may_end) continue;
      counts[static_cast<std::size_t>(i)] = scope.stop().calls("getppid");
    });
  }
  while (inside != kLanes) continue;
  std::thread([] {
    const syscost::Cost one_too_many = syscost::measure([] { call(1); });
    ASSERT_FALSE(one_too_many.available());
    EXPECT_NE(one_too_many.unavailable()->reason.find("16 threads"), std::string::npos)
        << one_too_many.unavailable()->reason;
    EXPECT_NE(one_too_many.unavailable()->how_to_fix, "");
    // The refused thread is still counted in the window in which it was before.
    EXPECT_EQ(syscost::measure([] { call(1); }, syscost::Reach::process).calls("getppid"), 1);
  }).join();
  may_end = true;
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kLanes; ++i) EXPECT_EQ(counts[static_cast<std::size_t>(i)], i);
}

TEST(Lanes, RefusingMakesNoSyscall) {
  std::atomic<int> inside{0};
  std::atomic<bool> may_end{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kLanes; ++i) {
    threads.emplace_back([&] {
      syscost::Scope scope;
      ++inside;
      while (!may_end) continue;
    });
  }
  while (inside != kLanes) continue;
  std::vector<syscost::Cost> refusals;
  refusals.reserve(20'000);
  syscost::Scope whole(syscost::Reach::process);
  for (int i = 0; i < 20'000; ++i) refusals.push_back(syscost::measure([] {}));
  const syscost::Cost cost = whole.stop();
  may_end = true;
  for (std::thread& thread : threads) thread.join();
  // Not all: ThreadSanitizer has a thread that sleeps.
  EXPECT_EQ(cost.calls("%memory"), 0) << cost;
  EXPECT_EQ(cost.calls("gettid"), 0) << cost;
  EXPECT_FALSE(refusals.back().available());
}

}  // namespace
