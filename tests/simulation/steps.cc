// SPDX-License-Identifier: MIT
//
// How often a history of equal runs shows a step, and how often one that is there is found.
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "judge/history.h"
#include "simulation.h"

namespace syscost::bench::simulation {

StepsResult simulate_steps(std::size_t runs, double noise, double slowdown, std::size_t histories, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, noise);
  constexpr double kThreshold = 0.03;
  StepsResult result;
  for (std::size_t i = 0; i < histories; ++i) {
    const std::size_t at = runs / 3 + random() % (runs / 3);
    std::vector<double> times;
    for (std::size_t run = 0; run < runs; ++run) {
      times.push_back(1e5 * (run < at ? 1.0 : slowdown) * std::exp(normal(random)));
    }
    const std::vector<judge::ChangePoint> found = judge::change_points(times, kThreshold);
    if (found.empty()) continue;
    ++result.with_steps;
    for (const judge::ChangePoint& one : found) {
      if (one.at + 1 >= at && one.at <= at + 1) {
        ++result.near;
        break;
      }
    }
  }
  return result;
}

}  // namespace syscost::bench::simulation
