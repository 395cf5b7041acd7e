// SPDX-License-Identifier: MIT
//
// Outliers: tests of a run that take far longer, or make far more calls, than its other tests.
//
// The tests of a suite differ by factors, so logarithms are compared: z = 0.6745 * (log2 x - median) / MAD, where the
// median absolute deviation (MAD) is that of the logarithms. z > 3.5 is far away (Iglewicz and Hoaglin, How to Detect
// and Handle Outliers, 1993). For normal values z is the distance in standard deviations. Neither median nor MAD are
// moved by the outliers themselves.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "stats/unusual.h"

namespace syscost::bench::stats {

/// A test's values of one measure: one for each repetition.
struct MeasuredTest {
  std::string window;
  std::vector<double> values;
};

struct Outlier {
  std::size_t test = 0;  ///< Index into the tests.
  Severity severity{};
  double z = 0;      ///< Of the repetition that is the least unusual.
  double value = 0;  ///< Of that repetition.
};

struct Outliers {
  double median = 0;           ///< Over the tests that have a value above 0; each stands with its own median.
  std::size_t tests = 0;       ///< Those.
  std::vector<Outlier> found;  ///< The largest z first.
  std::string reason;          ///< Why none can be named; empty if one could be.
};

/// With fewer tests nothing is far away.
inline constexpr std::size_t kLeastTestsForOutliers = 20;
/// Above these z. Values of 0 have no logarithm and are left out.
inline constexpr double kLowZ = 3.5;
inline constexpr double kMediumZ = 5;
inline constexpr double kHighZ = 8;

/// A test is an outlier only if each of its repetitions is far above the median. Tests far below it do little, and are
/// not named. If the MAD is 0, because half of the tests or more have the same value, there is no scale, and none is
/// named.
Outliers outliers_of(std::span<const MeasuredTest> tests);

}  // namespace syscost::bench::stats
