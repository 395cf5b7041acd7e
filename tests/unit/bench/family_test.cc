// SPDX-License-Identifier: MIT
#include "stats/significance.h"

#include <gtest/gtest.h>

#include <cmath>

namespace syscost::bench::stats {
namespace {

// R: p.adjust(c(0.01, 0.04, 0.03, 0.5), "BH")
TEST(AdjustedP, AgreesWithRsPAdjust) {
  const std::vector<double> adjusted = adjusted_p({0.01, 0.04, 0.03, 0.5});
  EXPECT_NEAR(adjusted[0], 0.04, 1e-12);
  EXPECT_NEAR(adjusted[1], 0.16 / 3, 1e-12);
  EXPECT_NEAR(adjusted[2], 0.16 / 3, 1e-12);
  EXPECT_NEAR(adjusted[3], 0.5, 1e-12);
}

TEST(AdjustedP, NeverPassesOneAndKeepsASingleP) {
  EXPECT_EQ(adjusted_p({0.9, 1.0}), (std::vector<double>{1.0, 1.0}));
  EXPECT_EQ(adjusted_p({0.03}), std::vector<double>{0.03});
  EXPECT_TRUE(adjusted_p({}).empty());
}

TEST(SamplesNeeded, GrowWithTheNumberOfTests) {
  EXPECT_EQ(samples_needed(1, 0.05), 4U);
  EXPECT_EQ(samples_needed(50, 0.05), 7U);
  for (std::size_t tests : {1U, 2U, 10U, 50U, 1000U}) {
    const std::size_t n = samples_needed(tests, 0.05);
    EXPECT_LT(smallest_p(n, n) * static_cast<double>(tests), 0.05);
    EXPECT_GE(smallest_p(n - 1, n - 1) * static_cast<double>(tests), 0.05);
  }
}

TEST(GeometricMean, TreatsTwiceAndHalfAlike) {
  EXPECT_NEAR(geometric_mean({2, 0.5}), 1, 1e-12);
  EXPECT_NEAR(geometric_mean({1, 8}), std::sqrt(8.0), 1e-12);
}

}  // namespace
}  // namespace syscost::bench::stats
