// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "syscost/counting.h"

namespace syscost::adapter {
namespace {

TEST(Figure, TellsTheCostOfAnIterationFromTheCostPerRun) {
  const Figure figure = figure_of({10, 100, 1000}, {32, 302, 3002});
  EXPECT_EQ(figure.per_iteration, 3);
  EXPECT_EQ(figure.per_run, 2U);
}

TEST(Figure, HasNoCostPerRunOfWhatHappensSometimes) {
  const Figure figure = figure_of({10, 100, 1000}, {1, 7, 63});  // every 16th iteration
  EXPECT_DOUBLE_EQ(figure.per_iteration, 0.063);
  EXPECT_EQ(figure.per_run, 0U);
}

TEST(Figure, IsAPlainQuotientWhereCountsLieOnNoLine) {
  for (const auto& counts : {std::vector<std::uint64_t>{10, 500, 1000}, {2000, 1500, 1000}, {1, 10, 1000}}) {
    const Figure figure = figure_of({10, 100, 1000}, counts);
    EXPECT_EQ(figure.per_iteration, 1);
    EXPECT_FALSE(figure.per_run.has_value());
  }
}

TEST(Figure, HasNoCostPerRunWhereThereIsOneLengthOnly) {
  const Figure figure = figure_of({7}, {15});
  EXPECT_DOUBLE_EQ(figure.per_iteration, 15.0 / 7);
  EXPECT_FALSE(figure.per_run.has_value());
}

TEST(Figure, OfNothingIsZeroAndNotUnknown) {
  const Figure figure = figure_of({10, 1000}, {0, 0});
  EXPECT_EQ(figure.per_iteration, 0);
  EXPECT_EQ(figure.per_run, 0U);
}

}  // namespace
}  // namespace syscost::adapter
