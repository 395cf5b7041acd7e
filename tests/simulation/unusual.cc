// SPDX-License-Identifier: MIT
//
// How often a value of a series that does not change is called unusual, and how often one that jumps is.
#include <cmath>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "simulation.h"
#include "stats/watched_series.h"

namespace syscost::bench::simulation {
namespace {

constexpr std::size_t kMinute = 60;

double draw(Load load, double mean, std::mt19937_64& random) {
  const auto poisson = [&](double of) {
    return of > 0 ? static_cast<double>(std::poisson_distribution<std::int64_t>(of)(random)) : 0.0;
  };
  switch (load) {
    case Load::steady:
      return poisson(mean);
    case Load::uneven:
      return std::round(mean * std::exp(std::normal_distribution<double>(0, 0.3)(random)));
    case Load::bursty:
      return poisson(mean * std::exponential_distribution<double>(1)(random));
    case Load::timer:
      return std::uniform_int_distribution<int>(1, 30)(random) == 1 ? 11 * mean : mean;
  }
  return 0;
}

}  // namespace

std::string_view to_string(Load load) {
  switch (load) {
    case Load::steady:
      return "steady";
    case Load::uneven:
      return "uneven";
    case Load::bursty:
      return "bursty";
    case Load::timer:
      return "timer";
  }
  return {};
}

UnusualResult simulate_unusual(Load load, double mean, double jump, std::size_t intervals, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < intervals + kMinute; ++i) values.push_back(draw(load, mean, random));
  UnusualResult result;
  const double an_hour = 3600 / static_cast<double>(intervals);
  for (std::size_t at = kMinute; at < values.size(); ++at) {
    const std::span<const double> before(&values[at - kMinute], kMinute);
    if (const auto one = stats::judge_unusual(values[at], before, stats::Measure::count)) {
      result.low_per_hour += an_hour;
      if (one->severity >= stats::Severity::medium) result.medium_per_hour += an_hour;
      if (one->severity >= stats::Severity::high) result.high_per_hour += an_hour;
    }
    const double jumped = std::round(values[at] * jump);
    if (stats::judge_unusual(jumped, before, stats::Measure::count)) result.found += 1 / static_cast<double>(intervals);
  }
  return result;
}

}  // namespace syscost::bench::simulation
