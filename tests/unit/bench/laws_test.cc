// SPDX-License-Identifier: MIT
//
// Laws of counts: 30 families with a known law, 10 without one, and what few sizes cannot show.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "laws.h"
#include "scale/law.h"
#include "scale/solve_law.h"

namespace syscost::bench {
namespace {

using scale::Counts;
using scale::Size;
using scale::Solution;
using testing::counts_of;
using testing::counts_over;
using testing::law_text;

const std::vector<std::int64_t> kSizes = {1, 100, 4096, 4097, 10000, 65536, 65537, 1000000};
/// A block is pinned from below by ceil(), from above by floor().
const std::vector<std::int64_t> kBelow = {1, 100, 4095, 4096, 10000, 65535, 65536, 1000000};
const std::vector<std::int64_t> kPowers = {8, 64, 512, 4096, 32768, 262144, 2097152};
const std::vector<std::int64_t> kSmall = {1, 2, 3, 5, 8, 13, 21, 34, 55, 100};
const std::vector<Size> kPairs = {{1, 1},      {100, 3},   {4096, 2},   {4097, 5},  {10000, 7},
                                  {65536, 16}, {65537, 4}, {100000, 9}, {12345, 11}};

std::int64_t up(std::int64_t n, std::int64_t b) {
  return (n + b - 1) / b;
}

std::int64_t log_up(std::int64_t n) {
  std::int64_t k = 0;
  while ((std::int64_t{1} << k) < n) ++k;
  return k;
}

std::int64_t log_down(std::int64_t n) {
  std::int64_t k = 0;
  while ((std::int64_t{2} << k) <= n) ++k;
  return k;
}

struct Known {
  std::string law;
  Counts counts;
  bool are_powers = false;
};

/// The families of the issue that asked for laws: what a program calls, and the formula that must come out.
std::vector<Known> known_families() {
  using I = std::int64_t;
  return {
      {"14", counts_over(kSizes, [](I, I) { return 14; })},
      {"n", counts_over(kSizes, [](I n, I) { return n; })},
      {"3n", counts_over(kSizes, [](I n, I) { return 3 * n; })},
      {"n + 7", counts_over(kSizes, [](I n, I) { return n + 7; })},
      {"2n + 3", counts_over(kSizes, [](I n, I) { return 2 * n + 3; })},
      {"n - 1", counts_over(kSizes, [](I n, I) { return n - 1; })},
      {"n/8", counts_over(kPowers, [](I n, I) { return n / 8; }), true},
      {"3n/8 + 1", counts_over(kPowers, [](I n, I) { return 3 * n / 8 + 1; }), true},
      {"ceil(n/4096)", counts_over(kSizes, [](I n, I) { return up(n, 4096); })},
      {"ceil(n/4096) + 1", counts_over(kSizes, [](I n, I) { return up(n, 4096) + 1; })},
      {"2*ceil(n/4096)", counts_over(kSizes, [](I n, I) { return 2 * up(n, 4096); })},
      {"3*ceil(n/4096) + 2", counts_over(kSizes, [](I n, I) { return 3 * up(n, 4096) + 2; })},
      {"floor(n/4096)", counts_over(kBelow, [](I n, I) { return n / 4096; })},
      {"floor(n/4096) + 5", counts_over(kBelow, [](I n, I) { return n / 4096 + 5; })},
      {"2*floor(n/4096) + 1", counts_over(kBelow, [](I n, I) { return 2 * (n / 4096) + 1; })},
      {"ceil(n/4096) - 1", counts_over(kSizes, [](I n, I) { return up(n, 4096) - 1; })},
      {"ceil(log2(n))", counts_over(kSizes, [](I n, I) { return log_up(n); })},
      {"ceil(log2(n)) + 4", counts_over(kSizes, [](I n, I) { return log_up(n) + 4; })},
      {"2*floor(log2(n)) + 1", counts_over(kSizes, [](I n, I) { return 2 * log_down(n) + 1; })},
      {"log2(n)", counts_over(kPowers, [](I n, I) { return log_up(n); }), true},
      {"n*ceil(log2(n))", counts_over(kSmall, [](I n, I) { return n * log_up(n); })},
      {"n^2", counts_over(kSmall, [](I n, I) { return n * n; })},
      {"n^2/2 - n/2", counts_over(kSmall, [](I n, I) { return n * (n - 1) / 2; })},
      {"2*n^2 + 3n + 4", counts_over(kSmall, [](I n, I) { return 2 * n * n + 3 * n + 4; })},
      {"n^3", counts_over(kSmall, [](I n, I) { return n * n * n; })},
      {"n*m", counts_over(kPairs, [](I n, I m) { return n * m; })},
      {"2*n*m + 3", counts_over(kPairs, [](I n, I m) { return 2 * n * m + 3; })},
      {"ceil(n/m)", counts_over(kPairs, [](I n, I m) { return up(n, m); })},
      {"2m + 1", counts_over(kPairs, [](I, I m) { return 2 * m + 1; })},
      {"m*ceil(n/4096)", counts_over(kPairs, [](I n, I m) { return m * up(n, 4096); })},
      {"m*(ceil(n/4096) + 1)", counts_over(kPairs, [](I n, I m) { return m * (up(n, 4096) + 1); })},
      {"2n + 3m + 4", counts_over(kPairs, [](I n, I m) { return 2 * n + 3 * m + 4; })},
      {"n*m + 2m + 5", counts_over(kPairs, [](I n, I m) { return n * m + 2 * m + 5; })},
  };
}

TEST(Laws, OfFamiliesWithAKnownLawAreSolvedExactly) {
  std::size_t solved = 0;
  for (const Known& known : known_families()) {
    if (known.counts.sizes.empty()) continue;
    const scale::Solved result = scale::solve(known.counts);
    EXPECT_EQ(law_text(result, known.are_powers), known.law) << "chance " << result.chance;
    ++solved;
  }
  EXPECT_GE(solved, 30U);
}

TEST(Laws, OfFamiliesWithoutALawAreNotSaid) {
  const std::vector<std::vector<std::int64_t>> lawless = {
      {3, 17, 12, 40, 5, 33, 8, 21},                       // nothing
      {8, 7, 6, 5, 4, 3, 2, 1},                            // falls
      {1, 100, 4096, 4097, 10000, 65536, 65537, 1000001},  // n, but once
      {1, 1, 1, 2, 3, 16, 17, 246},                        // ceil(n/4096), but 245 + 1
      {14, 14, 14, 15, 14, 14, 14, 14},                    // constant, but once
      {0, 1, 0, 1, 0, 1, 0, 1},                            // turns
      {2, 3, 5, 7, 11, 13, 17, 19},                        // primes
      {1, 1, 2, 6, 24, 120, 720, 5040},                    // grows too fast
      {100, 101, 99, 100, 102, 98, 100, 101},              // noise
      {1, 8, 27, 63, 125, 216, 343, 512},                  // a cube of the index, not of the size
  };
  for (const auto& values : lawless) {
    const scale::Solved result = scale::solve(counts_of(kSizes, values));
    EXPECT_EQ(law_text(result), "no law") << ::testing::PrintToString(values);
  }
}

TEST(Laws, TheCountsThatBreakTheBestCandidateAreNamed) {
  std::vector<std::int64_t> values;
  for (const std::int64_t n : kSizes) values.push_back(up(n, 4096));
  values[5] = 3;
  const scale::Solved result = scale::solve(counts_of(kSizes, values));
  ASSERT_EQ(result.solution, Solution::no_law);
  ASSERT_TRUE(result.has_candidate);
  EXPECT_EQ(scale::text_of(result.law, {"n", ""}), "ceil(n/4096)");
  ASSERT_EQ(result.breaks.size(), 1U);
  EXPECT_EQ(result.breaks[0].point, 5U);
  EXPECT_EQ(result.breaks[0].expected.num, 16);
}

TEST(Laws, ABlockThatTheSizesDoNotPinIsARange) {
  // 4096 to 8192 blocks of the largest size: b = 4096 and b = 4097 say the same.
  const scale::Solved result = scale::solve(counts_over(std::vector<std::int64_t>{8, 64, 512, 4096, 40000, 262144},
                                                        [](auto n, auto) { return up(n, 4096); }));
  EXPECT_EQ(law_text(result), "ceil(n/b), b in 4096..4161");
  for (const std::int64_t b : {result.law.b_low, result.law.b_high}) {
    EXPECT_EQ(scale::count_of(result.law, {262144, 1}, b)->num, 64);
  }
  EXPECT_NE(scale::count_of(result.law, {262144, 1}, result.law.b_high + 1)->num, 64);
}

TEST(Laws, NeedMoreSizesThanParameters) {
  EXPECT_EQ(law_text(scale::solve(counts_of({10, 20}, {23, 43}))), "too few: 2n + 3");
  EXPECT_EQ(law_text(scale::solve(counts_of({10, 20, 40}, {23, 43, 83}))), "2n + 3");
  EXPECT_EQ(law_text(scale::solve(counts_of({10, 20}, {14, 14}))), "14");
  EXPECT_EQ(law_text(scale::solve(counts_of({10, 20}, {10, 20}))), "too few: n") << "two sizes are no curve";
}

TEST(Laws, SmallCountsShowNone) {
  // One step among five sizes: every other list of ones and twos that grows has one, too.
  const scale::Solved result = scale::solve(counts_of({8, 64, 512, 4096, 8192}, {1, 1, 1, 1, 2}));
  EXPECT_EQ(result.solution, Solution::too_few);
  EXPECT_GT(result.chance, scale::kMostChance);
}

TEST(Laws, OneStepIsNone) {
  // Such are an allocator's counts above its threshold. It would be said of a block that it is 3 blocks large.
  EXPECT_EQ(scale::solve(counts_of({1, 10, 100, 1000, 10000, 100000, 1000000}, {0, 0, 0, 0, 0, 0, 3})).solution,
            Solution::too_few);
  EXPECT_EQ(scale::solve(counts_of({0, 1, 8, 64, 512}, {0, 0, 0, 1, 1})).solution, Solution::no_law);
}

TEST(Laws, TheSimplerLawIsSaid) {
  // ceil(n/b) with b in 4096..4161 says the same, but n/4096 has no rounding and comes first.
  const scale::Solved result = scale::solve(
      counts_over(std::vector<std::int64_t>{4096, 8192, 65536, 262144}, [](auto n, auto) { return n / 4096; }));
  EXPECT_EQ(law_text(result), "n/4096");
  EXPECT_FALSE(result.also.empty());
  for (const scale::Law& law : result.also) EXPECT_LE(law.parameters, result.law.parameters + 1);
}

TEST(Laws, OnAverageAreThoseOfWholePasses) {
  // 1000 iterations append n bytes each to a buffer of 4096: 1000 n / 4096 writes, rounded.
  Counts counts;
  const std::vector<std::int64_t> sizes = {8, 64, 512, 1000};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t calls = 1000 * sizes[i] / 4096;
    counts.sizes.push_back({sizes[i], 1});
    counts.values.push_back(*scale::rational(calls, 1000));
    counts.totals.push_back({i, calls, 1000});
  }
  const scale::Solved result = scale::solve(counts);
  EXPECT_EQ(result.solution, Solution::law);
  EXPECT_EQ(result.law.form, scale::Form::average);
  EXPECT_LE(result.law.b_low, 4096);
  EXPECT_GE(result.law.b_high, 4096);
  counts.totals[2].calls += 9;
  counts.values[2] = *scale::rational(counts.totals[2].calls, 1000);
  EXPECT_EQ(scale::solve(counts).solution, Solution::no_law);
}

TEST(Laws, OfLargeNumbersDoNotOverflow) {
  const std::int64_t large = std::int64_t{1} << 61;
  EXPECT_EQ(law_text(scale::solve(counts_of({1, large / 2, large}, {3, large / 2 + 2, large + 2}))), "n + 2");
  EXPECT_EQ(law_text(scale::solve(counts_of({large, large + 1, large + 2}, {5, 1, 9}))), "no law");
}

TEST(Laws, OfSizesThatAreFarOffOrManyTakeNoTime) {
  // Loops over block sizes have an end: these would run for minutes.
  const std::int64_t far = std::int64_t{1} << 59;
  scale::solve(counts_of({far, far + 1, far + 3}, {1'000'000'007, 1'000'000'017, 1'000'000'037}));
  scale::solve(counts_of({far / 1000, far, far + 3}, {1, 1'000'000'000'017, 1'000'000'000'039}));
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> values;
  for (std::int64_t i = 1; i <= 3000; ++i) {
    sizes.push_back(i * 64);
    values.push_back(i == 1500 ? 7 : i + 3);
  }
  EXPECT_EQ(law_text(scale::solve(counts_of(sizes, values))), "no law");
}

TEST(Laws, InWordsSayTheRate) {
  const auto words = [](const std::vector<std::int64_t>& sizes, auto count) {
    return scale::rate_words(scale::solve(counts_over(sizes, count)).law, {"bytes", ""});
  };
  EXPECT_EQ(words(kSizes, [](auto n, auto) { return up(n, 4096); }), "1 per 4096 bytes");
  EXPECT_EQ(words(kSizes, [](auto n, auto) { return n; }), "1 per byte");
  EXPECT_EQ(words(kSizes, [](auto n, auto) { return 2 * n; }), "2 per byte");
  EXPECT_EQ(words(kSizes, [](auto n, auto) { return 2 * n + 1; }), "");
}

}  // namespace
}  // namespace syscost::bench
