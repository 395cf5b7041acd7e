// SPDX-License-Identifier: MIT
//
// Two GoogleTests in one process: the program's own and that of its library. An argument: the library's tests come
// first.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" int run_tests_of_library(int argc, char** argv);

TEST(Program, Calls) {
  for (int i = 0; i < 7; ++i) syscall(SYS_getppid);
}

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const bool is_library_first = argc > 1;
  int result = is_library_first ? run_tests_of_library(argc, argv) : 0;
  result |= RUN_ALL_TESTS();
  if (!is_library_first) result |= run_tests_of_library(argc, argv);
  return result;
}
