// SPDX-License-Identifier: MIT
//
// A user's own main: strict about flags, as absl's and gflags' parsers are, and with a listener that makes syscalls in
// every event it gets.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

class NoisyListener : public testing::EmptyTestEventListener {
  void OnTestProgramStart(const testing::UnitTest&) override { call(1000); }
  void OnEnvironmentsSetUpStart(const testing::UnitTest&) override { call(1000); }
  void OnTestSuiteStart(const testing::TestSuite&) override { call(1000); }
  void OnTestStart(const testing::TestInfo&) override { call(1000); }
  void OnTestEnd(const testing::TestInfo&) override { call(1000); }
  void OnTestSuiteEnd(const testing::TestSuite&) override { call(1000); }
  void OnEnvironmentsTearDownEnd(const testing::UnitTest&) override { call(1000); }
  void OnTestProgramEnd(const testing::UnitTest&) override { call(1000); }
};

class Suite : public testing::Test {
 protected:
  static void SetUpTestSuite() { call(2); }
  static void TearDownTestSuite() { call(3); }
};
TEST_F(Suite, One) {
  call(1);
}
TEST_F(Suite, Two) {
  call(4);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("SYSCOST_TEST_NO_TESTS") != nullptr) return 0;
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1) {
    std::fprintf(stderr, "ERROR: Unknown command line flag '%s'\n", argv[1]);
    return 1;
  }
  testing::UnitTest::GetInstance()->listeners().Append(new NoisyListener);
  const int first = RUN_ALL_TESTS();
  return std::getenv("SYSCOST_TEST_RUN_TWICE") == nullptr ? first : RUN_ALL_TESTS();
}
