// SPDX-License-Identifier: MIT
//
// A main that forks a worker for each suite, which runs the tests; with SYSCOST_TEST_STARTS it starts the program again
// for each of them.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}
TEST(First, Calls) {
  call(1);
}
TEST(Second, Calls) {
  call(2);
}
TEST(Third, Calls) {
  call(3);
}

int run(const std::string& suite, int argc, char** argv) {
  testing::GTEST_FLAG(filter) = suite + ".*";
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace

int main(int argc, char** argv) {
  constexpr const char* kSuite = "SYSCOST_TEST_SUITE";
  if (const char* const suite = std::getenv(kSuite); suite != nullptr) return run(suite, argc, argv);
  int failed = 0;
  for (const std::string suite : {"First", "Second", "Third"}) {
    const pid_t worker = fork();
    if (worker == 0) {
      if (std::getenv("SYSCOST_TEST_STARTS") == nullptr) _exit(run(suite, argc, argv));
      setenv(kSuite, suite.c_str(), 1);
      execv("/proc/self/exe", argv);
      _exit(127);
    }
    int status = 0;
    waitpid(worker, &status, 0);
    failed += WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
  }
  return failed;
}
