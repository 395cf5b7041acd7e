// SPDX-License-Identifier: MIT
#include "stats/unusual.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace syscost::bench::stats {
namespace {

constexpr double kLow = 6;
constexpr double kMedium = 10;
constexpr double kHigh = 20;
/// The standard deviation of a normal distribution, divided by its median absolute deviation.
constexpr double kDeviationOfNormal = 1.4826;

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double least_scale(double median, Measure measure) {
  return measure == Measure::count ? std::max(1.0, std::sqrt(median)) : median / 20;
}

}  // namespace

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::low:
      return "low";
    case Severity::medium:
      return "medium";
    case Severity::high:
      return "high";
  }
  return {};
}

std::optional<Unusual> judge_unusual(double value, std::span<const double> before, Measure measure) {
  if (before.size() < kLeastBefore) return std::nullopt;
  const auto [lowest, highest] = std::minmax_element(before.begin(), before.end());
  if (value >= *lowest && value <= *highest) return std::nullopt;
  std::vector<double> values(before.begin(), before.end());
  const double median = median_of(values);
  for (double& one : values) one = std::abs(one - median);
  const double scale = std::max(kDeviationOfNormal * median_of(values), least_scale(median, measure));
  if (!(scale > 0)) return std::nullopt;
  const double z = (value - median) / scale;
  const double size = std::abs(z);
  if (!(size >= kLow)) return std::nullopt;
  return Unusual{size >= kHigh ? Severity::high : size >= kMedium ? Severity::medium : Severity::low, median, z};
}

}  // namespace syscost::bench::stats
