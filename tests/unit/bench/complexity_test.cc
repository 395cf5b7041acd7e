// SPDX-License-Identifier: MIT
//
// How times grow with sizes: the best complexity, and fixed costs.
#include "scale/complexity.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace syscost::bench {
namespace {

constexpr std::array<double, 6> kManySizes{8, 64, 512, 4096, 32768, 262144};

TEST(Complexity, IsThatOfTheTimes) {
  const auto of = [](auto time_ns) {
    std::vector<scale::TimePoint> points;
    for (const double n : kManySizes) points.push_back({n, time_ns(n)});
    const auto fit = scale::best_complexity(points);
    return fit ? std::string(scale::to_string(fit->complexity)) : std::string("none");
  };
  using scale::value_of;
  for (const scale::Complexity one : {scale::Complexity::constant, scale::Complexity::log_n, scale::Complexity::linear,
                                      scale::Complexity::n_log_n, scale::Complexity::square, scale::Complexity::cube}) {
    EXPECT_EQ(of([&](double n) { return 3 * value_of(one, n) * (1 + 0.01 * std::sin(n)); }), scale::to_string(one));
  }
}

TEST(Complexity, IsNotThatOfOneDisturbedTime) {
  std::vector<scale::TimePoint> points;
  for (const double n : kManySizes) points.push_back({n, 5 * n});
  EXPECT_TRUE(scale::best_complexity(points)->is_stable());
  points.back().time_ns *= 20;
  const auto fit = scale::best_complexity(points);
  EXPECT_FALSE(fit->is_stable());
  EXPECT_EQ(fit->without_largest, scale::Complexity::linear);
}

TEST(Complexity, TheFixedCostIsFoundWithItsInterval) {
  std::vector<scale::TimePoint> points;
  for (const double n : kManySizes) points.push_back({n, (2000 + 0.25 * n) * (1 + 0.02 * std::sin(n))});
  const auto fixed = scale::fixed_cost(points);
  ASSERT_TRUE(fixed);
  EXPECT_EQ(fixed->complexity, scale::Complexity::linear);
  EXPECT_LT(fixed->fixed_low_ns, 2000);
  EXPECT_GT(fixed->fixed_high_ns, 2000);
  EXPECT_NEAR(fixed->growing_ns, 0.25, 0.02);
  // 2000 / (2000 + 0.25 n) = 0.1 at n = 72000.
  EXPECT_EQ(scale::n_where_fixed_is(0.1, 2000, 0.25, scale::Complexity::linear), 72000);
  EXPECT_EQ(scale::n_where_fixed_is(0.5, 1, 1, scale::Complexity::linear), 1);
  EXPECT_FALSE(scale::fixed_cost({{8, 10}, {16, 10}, {32, 10}}));
}

TEST(Complexity, TimesThatDoNotGrowHaveNoGrowingPart) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(1, 0.05);
  for (const int sizes : {4, 6, 8}) {
    int wrong = 0;
    for (int family = 0; family < 2000; ++family) {
      std::vector<scale::TimePoint> points;
      for (int i = 0; i < sizes; ++i) points.push_back({std::pow(4.0, i + 2), 150 * noise(random)});
      const auto fixed = scale::fixed_cost(points);
      wrong += fixed && fixed->has_both() ? 1 : 0;
    }
    EXPECT_LE(wrong, 2000 * 0.015) << sizes;
    RecordProperty("wrong" + std::to_string(sizes), wrong);
  }
}

}  // namespace
}  // namespace syscost::bench
