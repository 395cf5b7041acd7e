// SPDX-License-Identifier: MIT
//
// A test that knows which language it is written in.
#include <gtest/gtest.h>
#ifdef INCLUDE_OURS
#include <syscost/gtest.h>
#endif

TEST(Language, IsTheProjects) {
  EXPECT_EQ(__cplusplus, 201402L);
}
