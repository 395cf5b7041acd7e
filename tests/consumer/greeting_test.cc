// SPDX-License-Identifier: MIT
//
// A user's tests, unaware of syscost: no include, no line of code. What they ask of the kernel is known exactly, so the
// rows they get can be held against it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

TEST(Greeting, WritesNineteenTimes) {
  int sink = open("/dev/null", O_WRONLY);
  ASSERT_GE(sink, 0);
  for (int i = 0; i < 19; ++i) {
    ASSERT_EQ(write(sink, "hello", 5), 5);
  }
  close(sink);
}

TEST(Greeting, AsksForNothing) {
  SUCCEED();
}
