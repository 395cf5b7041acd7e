// SPDX-License-Identifier: MIT
//
// A main that measures, forks as a daemon does, and runs its tests in the child.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "syscost/syscost.h"

TEST(InChild, Runs) {}

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  syscost::measure([] {});
  const pid_t child = fork();
  if (child == 0) _exit(RUN_ALL_TESTS());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
