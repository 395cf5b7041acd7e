// SPDX-License-Identifier: MIT
#include "stats/outliers.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <cmath>
#include <limits>

#include "stats/interval.h"

namespace syscost::bench::stats {
namespace {

/// The median absolute deviation of normal values with a standard deviation of 1.
constexpr double kMadOfNormal = 0.6745;

Severity severity_of(double z) {
  return z > kHighZ ? Severity::high : z > kMediumZ ? Severity::medium : Severity::low;
}

/// 0.6745 * (log2 x - median) / MAD; of 0 the least number.
double z_of(double value, double middle, double scale) {
  if (value <= 0) return std::numeric_limits<double>::lowest();
  return kMadOfNormal * (std::log2(value) - middle) / scale;
}

}  // namespace

Outliers outliers_of(std::span<const MeasuredTest> tests) {
  Outliers result;
  std::vector<double> medians;
  for (const MeasuredTest& test : tests) {
    if (test.values.empty()) continue;
    std::vector<double> sorted = test.values;
    std::sort(sorted.begin(), sorted.end());
    if (const double median = median_of(sorted); median > 0) medians.push_back(median);
  }
  result.tests = medians.size();
  if (medians.size() < kLeastTestsForOutliers) {
    result.reason = fmt::format("fewer than {} tests have a value above 0", kLeastTestsForOutliers);
    return result;
  }
  std::sort(medians.begin(), medians.end());
  result.median = median_of(medians);
  std::vector<double> logs;
  for (const double one : medians) logs.push_back(std::log2(one));
  const double middle = median_of(logs);
  // Boost 1.74 forgets to subtract the centre, so that its result is right only for a centre of 0.
  std::vector<double> deviations = logs;
  for (double& one : deviations) one -= middle;
  const double scale = boost::math::statistics::median_absolute_deviation(deviations, 0.0);
  if (!(scale > 0)) {
    result.reason = "half of the tests or more have the same value";
    return result;
  }
  for (std::size_t i = 0; i < tests.size(); ++i) {
    if (tests[i].values.empty()) continue;
    const double least = *std::min_element(tests[i].values.begin(), tests[i].values.end());
    const double z = z_of(least, middle, scale);
    if (z > kLowZ) result.found.push_back({i, severity_of(z), z, least});
  }
  std::stable_sort(result.found.begin(), result.found.end(),
                   [](const Outlier& a, const Outlier& b) { return a.z > b.z; });
  return result;
}

}  // namespace syscost::bench::stats
