// SPDX-License-Identifier: MIT
#include "stats/significance.h"

#include <gtest/gtest.h>

namespace syscost::bench::stats {
namespace {

TEST(Looks, ShareTheChanceSoThatAllTogetherNeverPassIt) {
  double spent = 0;
  InterimAnalysis look = first_look(10, 1, 0.05);
  for (int i = 0; i < 40; ++i, look = next_look(look)) spent += 0.05 / look.shares;
  EXPECT_LE(spent, 0.05);
}

TEST(Looks, BeginWhereAChangeCouldShowAndDouble) {
  EXPECT_EQ(first_look(10, 50, 0.05).rounds, 10U);
  EXPECT_EQ(first_look(1, 1, 0.05).rounds, 5U) << "4 against 4 give 0.029, half of 0.05 is asked for";
  EXPECT_EQ(first_look(2, 50, 0.05).rounds, 8U);
  EXPECT_EQ(first_look(2, 0, 0.05).rounds, 5U) << "no test with a time yet";
  EXPECT_EQ(next_look(first_look(10, 1, 0.05)).rounds, 20U);
}

}  // namespace
}  // namespace syscost::bench::stats
