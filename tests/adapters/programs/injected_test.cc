// SPDX-License-Identifier: MIT
//
// Calls that faults answer or change: of threads, scopes, loops and suites, for the rows of each.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "syscost/faults.h"
#include "syscost/gtest.h"
#include "syscost/loop.h"

namespace {

class Injected : public testing::Test {
 protected:
  ~Injected() override { close(null_); }
  void seek(int times) const {
    for (int i = 0; i < times; ++i) lseek(null_, 0, SEEK_CUR);
  }
  int null_ = open("/dev/null", O_RDWR | O_CLOEXEC);
};

TEST_F(Injected, None) {
  seek(5);
}

TEST_F(Injected, Answered) {
  syscost::Fault fault("lseek", EIO, syscost::nth(3));
  seek(5);
}

TEST_F(Injected, ByAResult) {
  syscost::Effect effect;
  effect.result = 7;
  syscost::Fault fault("lseek", effect, syscost::first(2));
  seek(5);
}

TEST_F(Injected, Delayed) {
  syscost::Effect effect;
  effect.delay_exit = std::chrono::nanoseconds(1);
  syscost::Fault fault("lseek", effect, syscost::every(2));
  seek(5);
}

TEST_F(Injected, Denied) {
  syscost::Forbid forbid("lseek");
  forbid.deny(EPERM);
  seek(2);
  EXPECT_NE(forbid.take_report(), "");
}

TEST_F(Injected, OnlyForbidden) {
  syscost::Forbid forbid("lseek");
  seek(2);
  EXPECT_NE(forbid.take_report(), "");
}

TEST_F(Injected, OfThreads) {
  syscost::Fault fault("lseek", EIO, syscost::from(11), syscost::Reach::process);
  std::thread one([&] { seek(10); });
  std::thread two([&] { seek(10); });
  one.join();
  two.join();
}

TEST_F(Injected, OfScopes) {
  syscost::Fault fault("lseek", EIO, syscost::every(2));
  syscost::Scope outer("outer");
  seek(2);
  {
    syscost::Scope inner("inner");
    seek(3);
  }
  seek(1);
}

TEST_F(Injected, OfALoop) {
  syscost::Fault fault("lseek", EIO);
  for (auto _ : syscost::loop("seeks")) seek(2);
}

class OfASuite : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    syscost::Fault fault("lseek", EIO);
    lseek(STDERR_FILENO, 0, SEEK_CUR);
  }
};

TEST_F(OfASuite, HasNone) {
  lseek(STDERR_FILENO, 0, SEEK_CUR);
}

}  // namespace
