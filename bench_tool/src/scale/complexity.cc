// SPDX-License-Identifier: MIT
#include "scale/complexity.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace syscost::bench::scale {
namespace {

constexpr std::array kAll = {Complexity::constant, Complexity::log_n,  Complexity::linear,
                             Complexity::n_log_n,  Complexity::square, Complexity::cube};
constexpr std::array kGrowing = {Complexity::log_n, Complexity::linear, Complexity::n_log_n, Complexity::square,
                                 Complexity::cube};
constexpr double kLevel = 0.975;  // of one side: an interval of 95 %
// For one side. The best of several curves is shown, and noise has as many chances to look like growth (Bonferroni).
constexpr double kGrowthLevel = 1 - 0.01 / kGrowing.size();

bool can_fit(const std::vector<TimePoint>& points) {
  const auto is_bad = [](const TimePoint& point) { return point.n < 1 || point.time_ns <= 0; };
  return points.size() >= kFewestSizes && std::none_of(points.begin(), points.end(), is_bad);
}

ComplexityFit fit(const std::vector<TimePoint>& points, Complexity complexity) {
  double time_curve = 0;
  double curve_curve = 0;
  double total = 0;
  for (const TimePoint& point : points) {
    const double curve = value_of(complexity, point.n);
    time_curve += point.time_ns * curve;
    curve_curve += curve * curve;
    total += point.time_ns;
  }
  ComplexityFit result;
  result.complexity = complexity;
  result.coefficient_ns = curve_curve > 0 ? time_curve / curve_curve : 0;
  double squares = 0;
  for (const TimePoint& point : points) {
    const double rest = point.time_ns - result.coefficient_ns * value_of(complexity, point.n);
    squares += rest * rest;
  }
  const auto count = static_cast<double>(points.size());
  result.error = std::sqrt(squares / count) / (total / count);
  return result;
}

ComplexityFit best_of(const std::vector<TimePoint>& points) {
  ComplexityFit best = fit(points, kAll.front());
  for (const Complexity complexity : kAll) {
    const ComplexityFit one = fit(points, complexity);
    if (one.error < best.error) best = one;
  }
  return best;
}

/// Weights are 1/time^2: a deviation counts by its share of the time.
std::optional<FixedCost> fit_with_fixed(const std::vector<TimePoint>& points, Complexity complexity) {
  double w = 0, wg = 0, wgg = 0, wt = 0, wgt = 0;
  for (const TimePoint& point : points) {
    const double weight = 1 / (point.time_ns * point.time_ns);
    const double curve = value_of(complexity, point.n);
    w += weight;
    wg += weight * curve;
    wgg += weight * curve * curve;
    wt += weight * point.time_ns;
    wgt += weight * curve * point.time_ns;
  }
  const double det = w * wgg - wg * wg;
  if (det <= 0 || !std::isfinite(det)) return std::nullopt;
  FixedCost result;
  result.complexity = complexity;
  result.fixed_ns = (wgg * wt - wg * wgt) / det;
  result.growing_ns = (w * wgt - wg * wt) / det;
  if (result.growing_ns <= 0) return std::nullopt;
  double squares = 0;
  for (const TimePoint& point : points) {
    const double said = result.fixed_ns + result.growing_ns * value_of(complexity, point.n);
    const double rest = (point.time_ns - said) / point.time_ns;
    squares += rest * rest;
  }
  const auto count = static_cast<double>(points.size());
  result.error = std::sqrt(squares / count);
  const boost::math::students_t_distribution<double> student(count - 2);
  const double half = boost::math::quantile(student, kLevel) * std::sqrt(squares / (count - 2) * wgg / det);
  result.fixed_low_ns = result.fixed_ns - half;
  result.fixed_high_ns = result.fixed_ns + half;
  result.growing_low_ns =
      result.growing_ns - boost::math::quantile(student, kGrowthLevel) * std::sqrt(squares / (count - 2) * w / det);
  return result;
}

}  // namespace

std::string_view to_string(Complexity complexity) {
  switch (complexity) {
    case Complexity::constant:
      return "O(1)";
    case Complexity::log_n:
      return "O(log n)";
    case Complexity::linear:
      return "O(n)";
    case Complexity::n_log_n:
      return "O(n log n)";
    case Complexity::square:
      return "O(n^2)";
    case Complexity::cube:
      return "O(n^3)";
  }
  return "";
}

double value_of(Complexity complexity, double n) {
  switch (complexity) {
    case Complexity::constant:
      return 1;
    case Complexity::log_n:
      return std::log2(n);
    case Complexity::linear:
      return n;
    case Complexity::n_log_n:
      return n * std::log2(n);
    case Complexity::square:
      return n * n;
    case Complexity::cube:
      return n * n * n;
  }
  return 1;
}

std::optional<ComplexityFit> best_complexity(const std::vector<TimePoint>& points) {
  if (!can_fit(points)) return std::nullopt;
  ComplexityFit best = best_of(points);
  std::vector<TimePoint> rest = points;
  rest.erase(
      std::max_element(rest.begin(), rest.end(), [](const TimePoint& a, const TimePoint& b) { return a.n < b.n; }));
  best.without_largest = best_of(rest).complexity;
  return best;
}

std::optional<FixedCost> fixed_cost(const std::vector<TimePoint>& points) {
  if (!can_fit(points)) return std::nullopt;
  std::optional<FixedCost> best;
  for (const Complexity complexity : kGrowing) {
    const std::optional<FixedCost> one = fit_with_fixed(points, complexity);
    if (one && (!best || one->error < best->error)) best = one;
  }
  return best;
}

double n_where_fixed_is(double share, double fixed, double growing, Complexity complexity) {
  // fixed <= share * (fixed + growing * curve(n))
  const double wanted = fixed * (1 - share) / (share * growing);
  double low = 1;
  double high = 2;
  while (value_of(complexity, high) < wanted && high < 1e300) high *= 2;
  if (value_of(complexity, low) >= wanted) return low;
  for (int i = 0; i < 200 && high - low > 0.5; ++i) {
    const double middle = low + (high - low) / 2;
    (value_of(complexity, middle) < wanted ? low : high) = middle;
  }
  return std::ceil(complexity == Complexity::linear ? wanted : high);
}

}  // namespace syscost::bench::scale
