// SPDX-License-Identifier: MIT
//
// Tests with one full name: in unnamed namespaces of two files, and registered by hand on one line; and one in a suite
// without a name. Each makes a known number of getppid calls.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

TEST(Open, Works) {
  call(SYSCOST_TEST_FILE == 1 ? 5 : 50);
}
#if SYSCOST_TEST_FILE == 1
TEST(Open, Other) {}

class ByHand : public testing::Test {
 public:
  explicit ByHand(int times) : times_(times) {}

 private:
  void TestBody() override { call(times_); }
  int times_;
};

const bool kIsRegistered = [] {
  for (const int times : {7, 70}) {
    testing::RegisterTest("Open", "ByHand", nullptr, nullptr, __FILE__, __LINE__,
                          [times]() -> testing::Test* { return new ByHand(times); });
  }
  testing::RegisterTest("", "InASuiteWithoutAName", nullptr, nullptr, __FILE__, __LINE__,
                        []() -> testing::Test* { return new ByHand(3); });
  return true;
}();
#endif

}  // namespace
