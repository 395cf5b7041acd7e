// SPDX-License-Identifier: MIT
//
// The backend's promises that the conformance suite cannot ask for.
#include "backends/dispatch/dispatch_backend.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <random>

#include "backends/dispatch/stub/cells.h"
#include "opened.h"
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
