// SPDX-License-Identifier: MIT
//
// Families of counts that follow no law, and how many of them a law is said of.
#include <random>

#include "scale/solve_law.h"
#include "simulation.h"

namespace syscost::bench::simulation {
namespace {

constexpr std::int64_t kBlock = 4096;

std::int64_t below(std::mt19937_64& random, std::uint64_t limit) {
  return static_cast<std::int64_t>(random() % limit);
}

std::int64_t count_at(Lawless kind, std::int64_t n, std::mt19937_64& random) {
  const std::int64_t noise = below(random, 3) - 1;
  switch (kind) {
    case Lawless::random_to_2:
      return 1 + below(random, 2);
    case Lawless::random_to_10:
      return 1 + below(random, 10);
    case Lawless::random_to_10000:
      return 1 + below(random, 10'000);
    case Lawless::noisy_constant:
      return 14 + noise;
    case Lawless::noisy_line:
      return 2 * n + 3 + noise;
    case Lawless::noisy_blocks:
      return (n + kBlock - 1) / kBlock + 7 + noise;
  }
  return 0;
}

}  // namespace

std::string_view to_string(Lawless kind) {
  switch (kind) {
    case Lawless::random_to_2:
      return "random, 1 to 2";
    case Lawless::random_to_10:
      return "random, 1 to 10";
    case Lawless::random_to_10000:
      return "random, 1 to 10000";
    case Lawless::noisy_constant:
      return "14, -1 to +1";
    case Lawless::noisy_line:
      return "2n + 3, -1 to +1";
    case Lawless::noisy_blocks:
      return "ceil(n/4096) + 7, -1 to +1";
  }
  return "";
}

LawsResult simulate_laws(Lawless kind, std::size_t sizes, std::size_t families, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  LawsResult result;
  for (std::size_t family = 0; family < families; ++family) {
    scale::Counts counts;
    for (std::size_t i = 0; i < sizes; ++i) {
      const std::int64_t n = std::int64_t{8} << (2 * i);
      counts.sizes.push_back({n, 1});
      counts.values.push_back({count_at(kind, n, random), 1});
    }
    const scale::Solved solved = scale::solve(counts);
    if (solved.solution != scale::Solution::law) continue;
    ++(solved.law.is_constant() ? result.constants : result.laws);
  }
  return result;
}

}  // namespace syscost::bench::simulation
