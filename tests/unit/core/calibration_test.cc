// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "core/backend.h"

namespace syscost {
namespace {

TEST(Calibration, IsTheDifference) {
  const Calibration calibration = added_by_counting(180, 100);
  EXPECT_TRUE(calibration.measured);
  EXPECT_FALSE(calibration.is_lost_in_noise);
  EXPECT_EQ(calibration.armed_ns_per_call, 80);
}

TEST(Calibration, IsNoNumberWhereTheBareCallTookAsLong) {
  for (const double armed_ns : {90.0, 100.0, 100.4}) {
    const Calibration calibration = added_by_counting(armed_ns, 100);
    EXPECT_FALSE(calibration.measured) << armed_ns;
    EXPECT_TRUE(calibration.is_lost_in_noise) << armed_ns;
  }
}

}  // namespace
}  // namespace syscost
