// SPDX-License-Identifier: MIT
//
// It is built with a GoogleTest whose class of suites has one more member (CMakeLists.txt), so syscost cannot read its
// tests. One of them passes, and one fails.
#include <gtest/gtest.h>

TEST(Patched, Passes) {}
TEST(Patched, Fails) {
  FAIL();
}
