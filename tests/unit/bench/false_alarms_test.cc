// SPDX-License-Identifier: MIT
#include "judge/baseline_windows.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "simulation.h"

namespace syscost::bench::judge {
namespace {

TEST(FalseAlarms, AreThoseSeenOnceOverTheRuns) {
  EXPECT_DOUBLE_EQ((FalseAlarms{4, 2}).expected(), 0.5);
  EXPECT_NEAR((FalseAlarms{3, 0}).at_most(), 1.0, 0.01) << "the rule of three";
  EXPECT_NEAR((FalseAlarms{3, 1}).at_most(), 4.744 / 3, 0.01);
}

// Suites of counts that vary with chances of all sizes, most of them never: estimate and truth over many suites. A
// count that varied once in n runs says what n - 1 runs leave unseen, which is a little more than what n do.
TEST(FalseAlarms, AreEstimatedOnTheCarefulSideInSimulatedSuites) {
  for (const auto& [runs, most] : std::vector<std::pair<std::size_t, double>>{{3, 1.3}, {5, 1.2}, {10, 1.12}}) {
    const simulation::AlarmsResult result = simulation::simulate_alarms(runs, 2000, 20261122);
    EXPECT_GE(result.estimated / result.came, 0.97) << runs;
    EXPECT_LE(result.estimated / result.came, most) << runs;
    EXPECT_GE(result.within_bound, 0.95) << runs;
  }
}

}  // namespace
}  // namespace syscost::bench::judge
