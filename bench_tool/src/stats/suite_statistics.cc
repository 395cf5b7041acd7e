// SPDX-License-Identifier: MIT
#include "stats/suite_statistics.h"

#include <fmt/format.h>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/statistics/bivariate_statistics.hpp>
#include <boost/math/statistics/univariate_statistics.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "stats/significance.h"

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

namespace {

/// Ranks from 1; equal values share the mean of theirs.
std::vector<double> shared_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end + 1) / 2;
    begin = end;
  }
  return ranks;
}

bool is_constant(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
}

double correlation_of_ranks(const std::vector<double>& a, const std::vector<double>& b) {
  if (is_constant(a) || is_constant(b)) return 0;
  return std::clamp(boost::math::statistics::correlation_coefficient(a, b), -1.0, 1.0);
}

double p_of(double rho, std::size_t n) {
  const double freedom = static_cast<double>(n) - 2;
  if (std::abs(rho) >= 1) return 0;
  const double t = std::abs(rho) * std::sqrt(freedom / (1 - rho * rho));
  return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t_distribution<double>(freedom), t));
}

/// For each series the first one that it moves together with; itself, if there is none.
std::vector<std::size_t> first_of_sets(std::span<const std::size_t> chosen,
                                       const std::vector<std::vector<double>>& ranks) {
  std::vector<std::size_t> first(ranks.size());
  for (std::size_t b = 0; b < chosen.size(); ++b) {
    first[chosen[b]] = chosen[b];
    for (std::size_t a = 0; a < b; ++a) {
      if (first[chosen[a]] != chosen[a]) continue;
      if (correlation_of_ranks(ranks[chosen[a]], ranks[chosen[b]]) < kTogetherRho) continue;
      first[chosen[b]] = chosen[a];
      break;
    }
  }
  return first;
}

}  // namespace

double spearman(std::span<const double> a, std::span<const double> b) {
  return correlation_of_ranks(shared_ranks(a), shared_ranks(b));
}

Correlations correlations_of(std::span<const CallSeries> series) {
  Correlations result;
  const std::size_t n = series.empty() ? 0 : series.front().calls.size();
  if (n < kLeastTestsForCorrelation) {
    result.reason = fmt::format("fewer than {} tests make calls that tell what they do", kLeastTestsForCorrelation);
    return result;
  }
  std::vector<std::size_t> chosen;
  std::vector<std::vector<double>> ranks(series.size());
  for (std::size_t i = 0; i < series.size(); ++i) {
    const auto makers =
        std::count_if(series[i].calls.begin(), series[i].calls.end(), [](double one) { return one > 0; });
    if (static_cast<std::size_t>(makers) < kLeastMakers || is_constant(series[i].calls)) continue;
    ranks[i] = shared_ranks(series[i].calls);
    chosen.push_back(i);
  }
  std::vector<Correlation> all;
  std::vector<double> p;
  for (std::size_t a = 0; a < chosen.size(); ++a) {
    for (std::size_t b = a + 1; b < chosen.size(); ++b) {
      all.push_back({chosen[a], chosen[b], correlation_of_ranks(ranks[chosen[a]], ranks[chosen[b]]), 1});
      p.push_back(p_of(all.back().rho, n));
    }
  }
  result.pairs = all.size();
  if (all.empty()) result.reason = fmt::format("fewer than two syscalls are made by {} tests or more", kLeastMakers);
  const std::vector<double> adjusted = adjusted_p(p);
  const std::vector<std::size_t> first = first_of_sets(chosen, ranks);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Correlation& one = all[i];
    one.p = adjusted[i];
    if (std::abs(one.rho) < kLeastRho || one.p > kMostP) continue;
    const bool is_first = first[one.first] == one.first;
    if (is_first && (first[one.second] == one.second || first[one.second] == one.first)) {
      result.found.push_back(one);
    } else {
      ++result.repeated;
    }
  }
  std::stable_sort(result.found.begin(), result.found.end(),
                   [](const Correlation& a, const Correlation& b) { return std::abs(a.rho) > std::abs(b.rho); });
  return result;
}

}  // namespace syscost::bench::stats
