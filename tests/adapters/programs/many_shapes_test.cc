// SPDX-License-Identifier: MIT
//
// A test program with a test of every shape GoogleTest has, each making a known number of calls to getppid, which
// neither GoogleTest nor libc calls by itself. The driver (windows_test.py and others) runs it and looks at its rows.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

TEST(Shapes, Empty) {}
TEST(Shapes, CallsThreeTimes) {
  call(3);
}
TEST(Shapes, CallsFromAThread) {
  std::thread([] { call(5); }).join();
}
TEST(Shapes, DISABLED_Disabled) {
  call(1);
}

TEST(Outcomes, Skips) {
  call(1);
  GTEST_SKIP() << "on purpose";
}

// Fail only when the driver asks, so that the program can also be run whole.
bool should_fail() {
  return std::getenv("SYSCOST_TEST_FAIL") != nullptr;
}

TEST(Outcomes, Fails) {
  call(2);
  if (should_fail()) FAIL() << "on purpose";
}
TEST(Outcomes, Throws) {
  call(2);
  if (should_fail()) throw std::runtime_error("on purpose");
}

class WithFixture : public testing::Test {
 protected:
  static void SetUpTestSuite() { call(7); }
  static void TearDownTestSuite() { call(8); }
  WithFixture() { call(1); }
  ~WithFixture() override { call(1); }
  void SetUp() override { call(1); }
  void TearDown() override { call(1); }
};
TEST_F(WithFixture, One) {
  call(10);
}
TEST_F(WithFixture, Two) {
  call(20);
}

template <class T>
class Typed : public testing::Test {};
using Types = testing::Types<int, std::tuple<char, std::string>>;
TYPED_TEST_SUITE(Typed, Types);
TYPED_TEST(Typed, Calls) {
  call(sizeof(TypeParam) == sizeof(int) ? 1 : 2);
}

class Parameterised : public testing::TestWithParam<int> {};
TEST_P(Parameterised, Calls) {
  call(GetParam());
}
INSTANTIATE_TEST_SUITE_P(Few, Parameterised, testing::Values(4, 6));

TEST(DyingDeathTest, Fast) {
  testing::FLAGS_gtest_death_test_style = "fast";
  call(1);
  EXPECT_DEATH(
      {
        call(100);
        std::abort();
      },
      "");
}
TEST(DyingDeathTest, Threadsafe) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  call(1);
  EXPECT_DEATH(
      {
        call(100);
        std::abort();
      },
      "");
}

// The child goes on as if it were the program: GoogleTest ends the test in it and runs the rest.
TEST(Forks, ChildReturnsIntoGoogleTest) {
  const bool in_whole_run = testing::UnitTest::GetInstance()->test_to_run_count() != 1;
  if (in_whole_run) GTEST_SKIP() << "would run all later tests twice";
  call(2);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    call(50);
    return;
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

void close_every_descriptor() {
  for (int fd = 3; fd < 4096; ++fd) close(fd);
}

TEST(Hostile, ClosesEveryDescriptor) {
  if (std::getenv("SYSCOST_TEST_HOSTILE") == nullptr) GTEST_SKIP() << "on request";
  call(1);
  close_every_descriptor();
}
TEST(Hostile, ComesAfter) {
  call(9);
}
TEST(Hostile, IsKilled) {
  if (std::getenv("SYSCOST_TEST_KILL") == nullptr) GTEST_SKIP() << "on request";
  raise(SIGKILL);
}

class CountedEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    call(11);
    if (std::getenv("SYSCOST_TEST_SKIP_ALL") != nullptr) GTEST_SKIP() << "on request";
    if (std::getenv("SYSCOST_TEST_ENVIRONMENT") == nullptr) return;
    for (char** variable = environ; *variable != nullptr; ++variable) std::printf("variable %s\n", *variable);
  }
  void TearDown() override {
    call(12);
    if (std::getenv("SYSCOST_TEST_HOSTILE_END") != nullptr) close_every_descriptor();
  }
};
[[maybe_unused]] const auto* const kEnvironment = testing::AddGlobalTestEnvironment(new CountedEnvironment);

}  // namespace
