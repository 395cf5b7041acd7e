// SPDX-License-Identifier: MIT
//
// Which threads the backend sees, and what it says of the others.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "backends/dispatch/stub/common/state.h"
#include "backends/dispatch/threads.h"
#include "opened.h"

namespace syscost::dispatch {
namespace {

// ---- alone: what it records needs no barrier ------------------------------------------------------------------------

bool is_alone() {
  return std::atomic_ref(syscost_is_alone).load() != 0;
}

TEST(Dispatch, KnowsThatAProgramIsAloneUntilItMakesAThread) {
  OpenedDispatch opened;
  ASSERT_NE(opened.backend, nullptr);
  EXPECT_TRUE(is_alone());
  // A child that is another process reads nothing here.
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(is_alone());
  bool was_alone_inside = true;
  std::thread([&] { was_alone_inside = is_alone(); }).join();
  EXPECT_FALSE(was_alone_inside);
  // False even after the thread has ended: nothing tells how many threads are left.
  EXPECT_FALSE(is_alone());
}

TEST(Dispatch, IsNotAloneBesideAnOlderThread) {
  std::atomic<bool> is_over{false};
  std::thread older([&] { is_over.wait(false); });
  {
    OpenedDispatch opened;
    ASSERT_NE(opened.backend, nullptr);
    EXPECT_FALSE(is_alone());
  }
  is_over = true;
  is_over.notify_all();
  older.join();
}

// ---- threads that outlive a backend ---------------------------------------------------------------------------------

/// Calls that are trapped, until it is told to stop.
class TrappedThread {
 public:
  TrappedThread() : thread_([this] { run(); }) {
    while (!has_begun_) std::this_thread::yield();
  }
  void stop() {
    is_over_ = true;
    thread_.join();
  }

 private:
  void run() {
    while (!is_over_) {
      long result = SYS_getppid;
      asm volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
      has_begun_ = true;
    }
  }

  std::atomic<bool> has_begun_{false};
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

/// The kernel may have stopped a thread for a call at the moment at which the backend closes.
TEST(DispatchDeathTest, ClosesBesideThreadsThatAreBeingTrapped) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer unmaps the signal stack that the kernel names when a thread ends";
  auto close_often = [] {
    for (int i = 0; i < 20; ++i) {
      std::vector<std::unique_ptr<TrappedThread>> threads;
      {
        OpenedDispatch opened;
        if (opened.backend == nullptr) std::_Exit(1);
        for (int k = 0; k < 2; ++k) threads.push_back(std::make_unique<TrappedThread>());
      }
      for (const auto& thread : threads) thread->stop();
    }
    std::_Exit(0);
  };
  if (kHasRuntimeThread) GTEST_SKIP() << "the sanitizer has handlers of its own";
  EXPECT_EXIT(close_often(), testing::ExitedWithCode(0), "");
}

TEST(Dispatch, ForgetsAThreadThatEndedBetweenTwoBackends) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer unmaps the signal stack that the kernel names when a thread ends";
  std::unique_ptr<TrappedThread> thread;
  {
    OpenedDispatch opened;
    ASSERT_NE(opened.backend, nullptr);
    thread = std::make_unique<TrappedThread>();
    EXPECT_EQ(count_armed_threads(), 2U);
  }
  thread->stop();
  OpenedDispatch again;
  ASSERT_NE(again.backend, nullptr);
  EXPECT_EQ(count_armed_threads(), 1U);
  EXPECT_TRUE(is_alone());
}

/// Makes calls when it is told to.
class WaitingThread {
 public:
  WaitingThread() : thread_([this] { run(); }) {}
  ~WaitingThread() {
    ask(0);
    thread_.join();
  }
  /// Returns when it has made `calls` calls.
  void make(int calls) {
    ask(calls);
    while (asked_ >= 0) std::this_thread::yield();
  }

 private:
  void ask(int calls) {
    asked_ = calls;
    asked_.notify_one();
  }
  void run() {
    for (;;) {
      asked_.wait(-1);
      const int calls = asked_;
      for (int i = 0; i < calls; ++i) syscall(SYS_getppid);
      asked_ = -1;
      if (calls == 0) return;
    }
  }

  std::atomic<int> asked_{-1};
  std::thread thread_;
};

TEST(Dispatch, CountsAThreadOfAnEarlierBackendAgain) {
  if (kHasRuntimeThread) GTEST_SKIP() << "the sanitizer has a thread that is counted, too";
  for (const Patching patching : {Patching::allowed, Patching::never}) {
    auto opened = std::make_unique<OpenedDispatch>(patching);
    ASSERT_NE(opened->backend, nullptr);
    WaitingThread thread;
    for (int round = 0; round < 10; ++round) {
      EXPECT_EQ(opened->count(SYS_getppid, [&] { thread.make(100); }), 100U) << round;
      opened.reset();
      thread.make(100);  // seen by no backend
      opened = std::make_unique<OpenedDispatch>(patching);
      ASSERT_NE(opened->backend, nullptr);
      // A thread that begins between two backends would be older than the second one.
      EXPECT_EQ(opened->backend->losses().lost, 0U);
    }
  }
}

// ---- threads that are not seen --------------------------------------------------------------------------------------

TEST(Dispatch, LosesAThreadForWhichThereIsNoPlaceAndSaysSo) {
  if (kHasRuntimeThread) GTEST_SKIP() << "the sanitizer has a thread that is counted, too";
  OpenedDispatch opened;
  ASSERT_NE(opened.backend, nullptr);
  std::vector<signal_safe::Thread*> taken;
  for (signal_safe::Thread& thread : syscost_threads) {
    if (std::atomic_ref(thread.is_used).exchange(1) == 0) taken.push_back(&thread);
  }
  const std::uint64_t before = opened.backend->losses().lost;
  std::thread([] {}).join();
  EXPECT_EQ(opened.backend->losses().lost, before + 1);
  for (signal_safe::Thread* thread : taken) std::atomic_ref(thread->is_used).store(0);
}

TEST(Dispatch, ReportsThreadsThatAreOlder) {
  if (kHasRuntimeThread) GTEST_SKIP() << "the sanitizer has a thread that is counted, too";
  std::atomic<bool> may_end{false};
  std::atomic<bool> is_there{false};
  std::thread older([&] {
    is_there = true;
    while (!may_end) std::this_thread::yield();
  });
  while (!is_there) std::this_thread::yield();
  {
    OpenedDispatch opened(Patching::never);
    ASSERT_NE(opened.backend, nullptr);
    EXPECT_NE(opened.backend->remark().find("1 thread is older"), std::string::npos) << opened.backend->remark();
  }
  may_end = true;
  older.join();
}

/// A thread that was there before any backend; it makes a call when `calls` grows.
class OlderThread {
 public:
  OlderThread() : thread_([this] { run(); }) {
    while (!is_there_) std::this_thread::yield();
  }
  ~OlderThread() {
    order(kEnd);
    thread_.join();
  }
  OlderThread(const OlderThread&) = delete;
  OlderThread& operator=(const OlderThread&) = delete;

  void call() {
    order(kCall);
    done_.wait(false);
    done_ = false;
  }

 private:
  static constexpr int kNothing = 0;
  static constexpr int kCall = 1;
  static constexpr int kEnd = 2;

  void order(int what) {
    order_ = what;
    order_.notify_one();
  }
  void run() {
    is_there_ = true;
    for (int what = kNothing; what != kEnd; what = order_.exchange(kNothing)) {
      if (what == kCall) {
        getppid();
        done_ = true;
        done_.notify_one();
      }
      order_.wait(kNothing);
    }
  }

  std::atomic<bool> is_there_{false};
  std::atomic<bool> done_{false};
  std::atomic<int> order_{kNothing};
  std::thread thread_;
};

/// Asks until nothing more is lost: a thread that has been woken is not asleep again at once.
std::uint64_t losses_at_rest(Backend& backend) {
  for (std::uint64_t before = backend.hidden_losses().value();;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const std::uint64_t now = backend.hidden_losses().value();
    if (now == before) return now;
    before = now;
  }
}

TEST(Dispatch, LosesTheCallsOfAnOlderThreadThatRanAndSaysSo) {
  if (kHasRuntimeThread) GTEST_SKIP() << "the sanitizer has a thread that is counted, too";
  OlderThread older;
  OpenedDispatch opened;
  ASSERT_NE(opened.backend, nullptr);
  const std::uint64_t at_rest = losses_at_rest(*opened.backend);
  EXPECT_EQ(opened.backend->hidden_losses().value(), at_rest) << "one that sleeps makes no calls";
  older.call();
  EXPECT_GT(opened.backend->hidden_losses().value(), at_rest);
}

}  // namespace
}  // namespace syscost::dispatch
