// SPDX-License-Identifier: MIT
//
// The assertions of syscost/gtest.h as a user writes them; the driver runs them with and without a backend.
#include <sys/syscall.h>
#include <unistd.h>
#include <cstdlib>

#include <map>
#include <utility>

#include "syscost/gtest.h"

namespace a_namespace_with_a_long_name_because_generated_code_has_such_names {
namespace another_one_of_the_same_kind_so_that_the_name_of_a_function_has_a_few_hundred_characters {
namespace and_one_more_of_them_which_makes_the_whole_name_longer_than_a_line_of_a_message_may_be {

template <int kCaller>
__attribute__((noinline)) void call_times() {
  for (int i = 0; i < kCaller; ++i) syscall(SYS_getppid);
  asm volatile("" : : : "memory");  // no tail call
}

}  // namespace and_one_more_of_them_which_makes_the_whole_name_longer_than_a_line_of_a_message_may_be
}  // namespace another_one_of_the_same_kind_so_that_the_name_of_a_function_has_a_few_hundred_characters
}  // namespace a_namespace_with_a_long_name_because_generated_code_has_such_names

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

template <int... kCallers>
void call_from_each(std::integer_sequence<int, kCallers...> /*callers*/) {
  // NOLINTBEGIN(google-build-using-namespace): one function of one namespace
  using namespace a_namespace_with_a_long_name_because_generated_code_has_such_names::
      another_one_of_the_same_kind_so_that_the_name_of_a_function_has_a_few_hundred_characters::
          and_one_more_of_them_which_makes_the_whole_name_longer_than_a_line_of_a_message_may_be;
  // NOLINTEND(google-build-using-namespace)
  (call_times<kCallers + 1>(), ...);
}

TEST(ManyLines, FailWithAMessageOfAFewLines) {
  EXPECT_SYSCALLS_EQ("getppid", 0, call_from_each(std::make_integer_sequence<int, 10>()));
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
