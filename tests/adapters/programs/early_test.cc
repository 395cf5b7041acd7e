// SPDX-License-Identifier: MIT
//
// A program that measures before main(), and tests that measure before a threadsafe death test runs the program again.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

#include "syscost/syscost.h"

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

[[maybe_unused]] const syscost::Cost kEarly = syscost::measure([] { call(1); });

TEST(Early, Calls) {
  call(3);
}

TEST(EarlyDeathTest, MeasuresFirst) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  {
    const syscost::Scope scope("named");
    call(2);
  }
  // The whole error output of the child.
  EXPECT_EXIT(
      {
        std::fputs("bye", stderr);
        _exit(0);
      },
      testing::ExitedWithCode(0), "^bye$");
}

}  // namespace
