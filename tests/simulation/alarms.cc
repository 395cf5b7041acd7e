// SPDX-License-Identifier: MIT
//
// How good is the estimate of the next run's false alarms? Simulated suites answer: the chance that a count of theirs
// varies is known.
#include <cmath>
#include <random>
#include <vector>

#include "judge/baseline_windows.h"
#include "judge/verdict.h"
#include "simulation.h"

namespace syscost::bench::simulation {
namespace {

constexpr std::size_t kCounts = 300;
/// The chances of counts that vary lie evenly between these on a logarithmic scale: rare ones are as many as common.
constexpr double kRarest = 0.001;
constexpr double kCommonest = 0.5;
constexpr double kShareThatVaries = 0.1;

}  // namespace

AlarmsResult simulate_alarms(std::size_t runs, std::size_t suites, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  AlarmsResult result;
  std::size_t within = 0;
  for (std::size_t suite = 0; suite < suites; ++suite) {
    judge::FalseAlarms estimate{runs, 0};
    double expected = 0;  // of the next run, given what the runs so far showed
    for (std::size_t i = 0; i < kCounts; ++i) {
      const bool varies = uniform(random) < kShareThatVaries;
      const double chance = varies ? kRarest * std::pow(kCommonest / kRarest, uniform(random)) : 0;
      std::vector<double> counts(runs);
      bool has_varied = false;
      for (double& count : counts) {
        count = uniform(random) < chance ? 4 : 3;
        has_varied = has_varied || count > 3;
      }
      for (std::size_t run = 0; run < runs; ++run) {
        std::vector<double> others = counts;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(run));
        const stats::Spread one{1, counts[run], counts[run], counts[run]};
        if (judge::compare_counts(*stats::spread_of(others), one, {}) == judge::Change::grew) ++estimate.departed;
      }
      if (!has_varied) expected += chance;
    }
    result.estimated += estimate.expected();
    result.came += expected;
    if (expected <= estimate.at_most()) ++within;
  }
  result.within_bound = static_cast<double>(within) / static_cast<double>(suites);
  return result;
}

}  // namespace syscost::bench::simulation
