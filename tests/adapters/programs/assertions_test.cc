// SPDX-License-Identifier: MIT
//
// The assertions of syscost/gtest.h as a user writes them; the driver runs them with and without a backend.
#include <sys/syscall.h>
#include <unistd.h>
#include <cstdlib>

#include <map>

#include "syscost/gtest.h"

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

TEST(Assertions, Hold) {
  EXPECT_SYSCALLS_EQ("getppid", 3, call(3));
  EXPECT_SYSCALLS_LE("getppid", 3, call(3));
  EXPECT_SYSCALLS_GE("getppid", 3u, call(3)) << "with a message";
  ASSERT_SYSCALLS_EQ("*", 0, static_cast<void>(0));
  ASSERT_SYSCALLS_LE("%file", 0, call(1));
  ASSERT_SYSCALLS_GE("*", 1, call(1));
}
TEST(Assertions, TakeStatementsWithCommas) {
  EXPECT_SYSCALLS_EQ("getppid", 2, std::map<int, int> pairs; pairs[1] = 2, call(pairs[1]));
}
TEST(Assertions, StandWhereAStatementStands) {
  if (std::getenv("PATH") != nullptr)
    EXPECT_SYSCALLS_EQ("getppid", 1, call(1));
  else
    FAIL();
}
TEST(Assertions, ReadAValueFirst) {
  auto cost = syscost::measure([] { call(2); });
  EXPECT_EQ(cost.calls("getppid"), 2) << cost;
  EXPECT_LE(cost.calls(), 2);
}
TEST(Assertions, FailWithTheBreakdown) {
  EXPECT_SYSCALLS_LE("getppid", 1, call(4));
}
TEST(Assertions, FailFatally) {
  ASSERT_SYSCALLS_EQ("getppid", 0, call(1));
  ADD_FAILURE() << "still here";
}
TEST(Assertions, FailForASelectorThatNamesNothing) {
  EXPECT_SYSCALLS_EQ("wrte", 0, static_cast<void>(0));
}
TEST(Assertions, CountScopesOfTheirOwn) {
  syscost::Scope scope("named scope");
  call(6);
  EXPECT_EQ(scope.stop().calls("getppid"), 6);
}

}  // namespace
