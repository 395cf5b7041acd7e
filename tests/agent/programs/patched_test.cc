// SPDX-License-Identifier: MIT
//
// A test that passes and one that fails, with a GoogleTest that nobody else knows (CMakeLists.txt).
#include <gtest/gtest.h>

TEST(Patched, Passes) {}
TEST(Patched, Fails) {
  FAIL();
}
