// SPDX-License-Identifier: MIT
//
// How often a law is said of counts that follow none. docs/scale.md has the rates of more families.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "simulation.h"

namespace syscost::bench {
namespace {

using simulation::Lawless;
using simulation::simulate_laws;

constexpr std::size_t kFamilies = 300;

double percent_of_laws(Lawless kind, std::size_t sizes) {
  return 100.0 * static_cast<double>(simulate_laws(kind, sizes, kFamilies, 7).laws) / kFamilies;
}

TEST(LawsRate, OfRandomCountsIsAtMostTheChanceThatIsAllowed) {
  for (const Lawless kind :
       {Lawless::random_to_2, Lawless::random_to_10, Lawless::random_to_10000, Lawless::noisy_constant}) {
    for (const std::size_t sizes : {3U, 4U, 5U, 6U, 8U}) {
      EXPECT_LE(percent_of_laws(kind, sizes), 1) << simulation::to_string(kind) << ", " << sizes << " sizes";
    }
  }
}

/// Noise around a law is that law with another constant if it is the same at each size: one family of 3^(sizes - 1).
TEST(LawsRate, OfALawWithNoiseIsThatOfEqualNoise) {
  double equal = 100.0 / 9;
  for (std::size_t sizes = 4; sizes <= 8; ++sizes) {
    equal /= 3;
    EXPECT_LE(percent_of_laws(Lawless::noisy_line, sizes), 1.5 * equal + 1) << sizes;
    EXPECT_LE(percent_of_laws(Lawless::noisy_blocks, sizes), 1.5 * equal + 1) << sizes;
  }
}

}  // namespace
}  // namespace syscost::bench
