// SPDX-License-Identifier: MIT
//
// The backend's promises that the conformance suite cannot ask for.
#include "backends/dispatch/dispatch_backend.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>
#include <vector>

#include "opened.h"
#include "signal_safe/bucket.h"
#include "signal_safe/state.h"
#include "syscost/histogram.h"

namespace syscost::dispatch {
namespace {

TEST(Dispatch, PutsLatenciesIntoTheBucketsOfTheHistogram) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint64_t ns = random() >> (random() % 64);
    ASSERT_EQ(signal_safe::bucket_of(ns), histogram_bucket(ns)) << ns;
  }
  for (std::uint64_t ns = 0; ns < 100'000; ++ns) ASSERT_EQ(signal_safe::bucket_of(ns), histogram_bucket(ns)) << ns;
}

TEST(Dispatch, CountsAgainAfterItWasClosed) {
  for (int i = 0; i < 3; ++i) {
    OpenedDispatch opened;
    ASSERT_NE(opened.backend, nullptr);
    EXPECT_EQ(opened.count(SYS_getppid,
                           [] {
                             for (int call = 0; call < 7; ++call) syscall(SYS_getppid);
                           }),
              7U);
  }
}

TEST(Dispatch, IsOpenOnlyOnce) {
  OpenedDispatch first;
  Result<std::unique_ptr<Backend>> second = open_backend(Patching::never);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.failure().reason.find("open"), std::string::npos);
}

TEST(Dispatch, GivesSigsysBackAsItFoundIt) {
  struct sigaction before = {};
  before.sa_handler = SIG_IGN;
  sigaction(SIGSYS, &before, nullptr);
  { OpenedDispatch opened; }
  struct sigaction after = {};
  sigaction(SIGSYS, nullptr, &after);
  EXPECT_EQ(after.sa_handler, SIG_IGN);
  signal(SIGSYS, SIG_DFL);
}

// ---- alone: what it records needs no barrier
// ---------------------------------------------------------------------------

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
  // Also when that has ended: nobody tells how many are left.
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

TEST(Dispatch, IsNotAloneBesideAThreadThatATimedPassMade) {
  OpenedDispatch opened;
  ASSERT_NE(opened.backend, nullptr);
  ASSERT_TRUE(opened.backend->detach().ok());
  std::atomic<bool> is_over{false};
  std::thread made([&] { is_over.wait(false); });
  // As if its clone had been made where nothing is patched.
  std::atomic_ref(syscost_is_alone).store(1);
  ASSERT_TRUE(opened.backend->attach().ok());
  EXPECT_FALSE(is_alone());
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
  EXPECT_EXIT(use_own_dispatch(), testing::ExitedWithCode(0), "stood aside");
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

TEST(DispatchDeathTest, LetsASigsysEndAProgramWithoutAHandler) {
  auto raise_sigsys = [] {
    OpenedDispatch opened;
    raise(SIGSYS);
    std::_Exit(0);
  };
  EXPECT_EXIT(raise_sigsys(), testing::KilledBySignal(SIGSYS), "");
}

TEST(DispatchDeathTest, NullDereferencesStillCrash) {
  auto call_null = [] {
    OpenedDispatch opened;
    void (*volatile nothing)() = nullptr;
    nothing();
  };
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer handles SIGSEGV";
  EXPECT_EXIT(call_null(), testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace syscost::dispatch
