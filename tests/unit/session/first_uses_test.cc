// SPDX-License-Identifier: MIT
#include "session/process/first_uses.h"

#include <gtest/gtest.h>

namespace syscost::session {
namespace {

// tests/adapters/first_uses_test.py compares a process that uses them with an unmeasured one.
TEST(FirstUsesTest, AProcessorHasEightArenasAndOneAloneNine) {
  EXPECT_EQ(most_arenas(1), 9);
  EXPECT_EQ(most_arenas(2), 16);
  EXPECT_EQ(most_arenas(64), 512);
}

TEST(FirstUsesTest, KnowsWhichGlibcCountsTheProcessorsThatAreThere) {
  for (const char* version : {"2.28", "2.33", "2.39", "2.41"})
    EXPECT_TRUE(arenas_follow_get_nprocs(version)) << version;
  for (const char* version : {"2.34", "2.36", "2.38", "", "3.0", "2."}) {
    EXPECT_FALSE(arenas_follow_get_nprocs(version)) << version;
  }
}

}  // namespace
}  // namespace syscost::session
