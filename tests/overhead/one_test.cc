// SPDX-License-Identifier: MIT
//
// One test that does nothing: what is left is what starting and ending cost.
#include <gtest/gtest.h>

TEST(One, DoesNothing) {
  SUCCEED();
}
