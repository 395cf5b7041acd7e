// SPDX-License-Identifier: MIT
//
// Tests that replace functions of libc (fakes.h). A suite switches the fake on before its first test and off after its
// last one.
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "fakes.h"

namespace {

void make_calls(int count) {
  for (int i = 0; i < count; ++i) fakes::raw(SYS_getppid);
}

class Fake : public testing::Test {
 protected:
  static void SetUpTestSuite() { fakes::turn_on(true); }
  static void TearDownTestSuite() { fakes::turn_on(false); }
};

TEST(Before, One) {
  make_calls(1);
}
TEST_F(Fake, One) {
  make_calls(2);
}
TEST_F(Fake, Two) {
  make_calls(3);
}
TEST(After, One) {
  make_calls(1);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  fakes::print_calls();
  return failed;
}
