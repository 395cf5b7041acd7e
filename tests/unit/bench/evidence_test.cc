// SPDX-License-Identifier: MIT
//
// The numbers are those of an implementation in another language, which simulations were made with.
#include "judge/evidence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace syscost::bench::judge {
namespace {

struct Course {
  std::vector<double> first_old;
  std::vector<double> first_new;
  std::size_t doubts;
  std::size_t budget;
  std::string runs;  ///< `+6`: NEW counted 6; `5`: OLD counted 5
  Decision decision;
  double evidence;
  double for_fewer;
  std::optional<std::int64_t> told_from;
  std::optional<std::int64_t> less_than;
};

Doubt made_of(const Course& example) {
  std::vector<SeenRun> first;
  for (const double count : example.first_old) first.push_back({count, false});
  for (const double count : example.first_new) first.push_back({count, true});
  Doubt doubt(first, example.doubts, example.budget);
  std::istringstream words(example.runs);
  for (std::string word; words >> word;) doubt.add({std::stod(word), word[0] == '+'});
  return doubt;
}

TEST(Evidence, IsThatOfTheOtherImplementation) {
  const std::optional<std::int64_t> none;
  const std::vector<Course> examples = {
      {{5},
       {6},
       1,
       40,
       "+6 5 5 +6 +6 5 +6 5 +6 5 +6 5",
       Decision::red,
       1820.6875746592698,
       0.0021020687436299453,
       0,
       2},
      {{5}, {6}, 1, 40, "+6 5 5 +6 +6 5 +6 5 +6 5", Decision::go_on, 493.57618325682614, 0.005399905101530218, none, 2},
      {{5},
       {6},
       500,
       40,
       "+6 5 5 +6 +6 5 +6 5 +6 5 +6 5 5 +6 5 +6 +6 5 5 +6 +6 5",
       Decision::red,
       1353187.3514082134,
       1.7852570779562474e-05,
       0,
       2},
      {{0}, {1}, 3, 40, "0 +0 +0 0 0", Decision::not_red, 0.2851605662241658, 0.3111870289191166, none, 2},
      {{5}, {6}, 1, 40, "+5 6 +6 5 5", Decision::not_red, 0.16411693723838958, 0.1546175413882215, none, none},
      {{6}, {5}, 4, 40, "+5 6 +5 +5 6", Decision::not_red, 0.07135097125576637, 19.854667546280666, none, none},
      {{20},
       {21},
       2,
       40,
       "+21 20 21 +21 20 +21 +21 20 20 +21 +21 20 +21 20 20 +21",
       Decision::go_on,
       866.9815415193588,
       0.00044256807204525893,
       1,
       2},
      {{100},
       {130},
       1,
       40,
       "+100 100 130 +130 +100 130 100 +100 100 +130",
       Decision::not_red,
       0.02725521266242289,
       0.07967023172421865,
       none,
       31},
      {{1000},
       {1110},
       10,
       40,
       "+1080 1012 970 +1105 +1130 995 +1120 1030 +1098 1003 988 +1077 +1140 1020 +1101 960",
       Decision::go_on,
       2428.021859947182,
       1.3290680146160785e-05,
       none,
       151},
      {{400},
       {391},
       10,
       20,
       "+420 380 +395 +360 410 388 +431 402 +377 399 405 +398",
       Decision::not_red,
       0.0281510522546548,
       0.023306664262627338,
       none,
       41},
      {{7, 7, 8},
       {9, 9},
       6,
       40,
       "+9 7 8 +9 +9 7 7 +9 +9 7 8 +9 +9 +9 8",
       Decision::red,
       11161.79644280428,
       0.000623371756237397,
       0,
       3},
      {{3}, {0}, 1, 20, "3 3 3 3 3 +0 +0", Decision::not_red, 0.10075441603348148, 71.9960132308108, none, 0}};
  for (const Course& example : examples) {
    SCOPED_TRACE(example.runs);
    const Doubt doubt = made_of(example);
    EXPECT_EQ(doubt.decision(), example.decision);
    EXPECT_DOUBLE_EQ(doubt.evidence(), example.evidence);
    EXPECT_DOUBLE_EQ(doubt.evidence_for_fewer(), example.for_fewer);
    EXPECT_EQ(doubt.told_from(), example.told_from);
    EXPECT_EQ(doubt.grew_by_less_than(), example.less_than);
  }
}

/// For programs that behave alike, at most one of 1000 gates is red: here of 20 000, over counts that vary in several
/// ways.
TEST(Evidence, IsHardlyEverFalse) {
  std::mt19937_64 random(35);  // NOLINT(bugprone-random-generator-seed): the same gates each time
  const auto coin = [&] { return random() >> 63U != 0; };
  const auto count_of = [&](int kind, int run) -> double {
    if (kind == 0) return 20 + (random() % 5 == 0 ? 1 : 0);
    if (kind == 1) return std::round(std::normal_distribution<>(1000, 100)(random));
    if (kind == 2) return 100 + std::round(std::exp(std::normal_distribution<>(0, 2)(random)));
    return 50 + run % 2 + (random() % 20 == 0 ? 3 : 0);  // each second run makes one more
  };
  constexpr int kGates = 20'000;
  int red = 0;
  for (int gate = 0; gate < kGates; ++gate) {
    const int kind = gate % 4;
    int run = 0;
    std::vector<SeenRun> first(2);
    while (first[0].count == first[1].count) {
      first = {{count_of(kind, 0), false}, {count_of(kind, 1), true}};
      run = 2;
    }
    Doubt doubt(first, 1, 40);
    while (doubt.decision() == Decision::go_on) {
      const bool is_new = coin();
      doubt.add({count_of(kind, run++), is_new});
    }
    red += doubt.decision() == Decision::red ? 1 : 0;
  }
  EXPECT_LE(red, kGates / 1000);
}

TEST(Evidence, FindsOneMoreCallInTwelveRuns) {
  Doubt doubt({{5, false}, {6, true}}, 1, 40);
  bool is_new = false;
  while (doubt.decision() == Decision::go_on) {
    doubt.add({is_new ? 6.0 : 5.0, is_new});
    is_new = !is_new;
  }
  EXPECT_EQ(doubt.decision(), Decision::red);
  EXPECT_EQ(doubt.runs(), 12U);
}

}  // namespace
}  // namespace syscost::bench::judge
