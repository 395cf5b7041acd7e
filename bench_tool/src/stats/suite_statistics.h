// SPDX-License-Identifier: MIT
//
// suite_statistics: the tests of one run, compared with each other. It finds the tests that take far longer or make far
// more calls than the others, and the syscalls that are made more often in the same tests.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "stats/watched_series.h"

namespace syscost::bench::stats {

/// A test's values of one measure: one for each repetition.
struct MeasuredTest {
  std::string window;
  std::vector<double> values;
};

struct Outlier {
  std::size_t test = 0;  ///< Index into the tests.
  Severity severity{};
  double z = 0;      ///< That of the repetition that is the least unusual.
  double value = 0;  ///< That repetition's.
};

/// Tests of a run that take far longer, or make far more calls, than its other tests.
///
/// The tests of a suite differ by factors, so logarithms are compared: z = 0.6745 * (log2 x - median) / MAD, where the
/// median absolute deviation (MAD) is that of the logarithms. z > 3.5 is far away (Iglewicz and Hoaglin, How to Detect
/// and Handle Outliers, 1993). For normal values z is the distance in standard deviations. Neither median nor MAD are
/// moved by the outliers themselves.
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

/// How often each test makes a syscall; all have the same tests in the same order.
struct CallSeries {
  std::string syscall;
  std::vector<double> calls;
};

/// Two syscalls that are made more often in the same tests.
///
/// Spearman's rho is the correlation of ranks. It asks only whether one count grows when the other one does, not
/// whether it grows in proportion. Counts have many equal values: these share the mean of their ranks.
struct Correlation {
  std::size_t first = 0;  ///< Index into the series.
  std::size_t second = 0;
  double rho = 0;  ///< -1 to 1.
  double p = 1;  ///< Two-sided, by Student's t with n - 2 degrees of freedom; adjusted for all pairs (significance.h).
};

/// Among syscalls that always move together (kTogetherRho with the first of them in the order of the series), only this
/// first one is in pairs with others, and in one pair with each of its set. The other pairs would say the same again.
struct Correlations {
  std::vector<Correlation> found;  ///< The largest |rho| first.
  std::size_t pairs = 0;           ///< That were looked at.
  std::size_t repeated = 0;        ///< That are correlated and left out of `found`, because a pair in it says the same.
  std::string reason;              ///< Why none could be; else empty.
};

/// With fewer tests a correlation is chance.
inline constexpr std::size_t kLeastTestsForCorrelation = 20;
/// A syscall that fewer tests make is not looked at.
inline constexpr std::size_t kLeastMakers = 5;
/// Pairs with a smaller |rho|, or a larger p, are not named.
inline constexpr double kLeastRho = 0.7;
inline constexpr double kMostP = 0.01;
/// With this rho, which is printed as 1.00, two syscalls move together in all tests but for a few.
inline constexpr double kTogetherRho = 0.995;

/// Spearman's rho of two series of the same length, 3 or more. 0 if all values of one are equal.
double spearman(std::span<const double> a, std::span<const double> b);

/// The pairs of `series` that are correlated. A syscall with the same count in every test is left out.
Correlations correlations_of(std::span<const CallSeries> series);

}  // namespace syscost::bench::stats
