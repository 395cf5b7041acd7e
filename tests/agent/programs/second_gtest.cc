// SPDX-License-Identifier: MIT
//
// A library with a GoogleTest of its own, which no other module sees.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

TEST(Library, Calls) {
  for (int i = 0; i < 5; ++i) syscall(SYS_getppid);
}

extern "C" [[gnu::visibility("default")]] int run_tests_of_library(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
