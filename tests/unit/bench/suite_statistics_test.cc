// SPDX-License-Identifier: MIT
//
// Statistics over the tests of a suite, on data with a known answer: percentiles and deviations of histograms,
// outliers, correlations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "stats/latency.h"
#include "stats/suite_statistics.h"

namespace syscost::bench::stats {
namespace {

double even(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

/// A normal value, by Box and Muller: its tails are those of the distribution.
double normal(std::mt19937_64& random) {
  const double radius = std::sqrt(-2 * std::log(1 - even(random)));
  return radius * std::cos(2 * 3.14159265358979323846 * even(random));
}

std::vector<std::uint64_t> latencies(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(static_cast<std::uint64_t>(1000 * std::exp(normal(random))));
  return values;
}

Histogram histogram_of(const std::vector<std::uint64_t>& values) {
  Histogram histogram;
  for (const std::uint64_t value : values) histogram.add(value);
  return histogram;
}

TEST(Percentile, OfABucketHoldsThatOfTheValues) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<std::uint64_t> values = latencies(50 + 37 * seed, seed);
    const Histogram histogram = histogram_of(values);
    std::sort(values.begin(), values.end());
    for (const double fraction : {0.5, 0.9, 0.99}) {
      const auto rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(values.size()) - 1e-9));
      const auto exact = static_cast<double>(values[rank - 1]);
      const Percentile one = percentile_of(histogram, fraction);
      EXPECT_LE(one.low_ns, exact);
      EXPECT_GE(one.high_ns, exact);
      EXPECT_LE(one.high_ns, 1.125 * one.low_ns);
      if (!one.interval) continue;
      EXPECT_LE(one.interval->low, one.low_ns);
      EXPECT_GE(one.interval->high, one.high_ns);
      EXPECT_GE(one.interval->level, kPercentileLevel);
    }
  }
}

TEST(Percentile, HasAnIntervalThatHoldsTheTrueOne) {
  // The median of exp(normal) * 1000 is 1000, the 90th percentile that of a normal value, 1.2816.
  std::size_t holds_median = 0;
  std::size_t holds_90 = 0;
  constexpr std::size_t kTimes = 200;
  for (std::uint64_t seed = 0; seed < kTimes; ++seed) {
    const Histogram histogram = histogram_of(latencies(200, 1000 + seed));
    holds_median += percentile_of(histogram, 0.5).interval->contains(999.5);
    holds_90 += percentile_of(histogram, 0.9).interval->contains(1000 * std::exp(1.2816));
  }
  EXPECT_GE(holds_median, kTimes * 92 / 100);
  EXPECT_GE(holds_90, kTimes * 92 / 100);
}

TEST(Percentile, OfFewCallsHasNoInterval) {
  // The chance that all n values lie below the 99th percentile is 0.99^n: at 368 values it is below 2.5 %.
  EXPECT_FALSE(percentile_of(histogram_of(latencies(367, 1)), 0.99).interval);
  EXPECT_TRUE(percentile_of(histogram_of(latencies(368, 1)), 0.99).interval);
  EXPECT_FALSE(percentile_of(histogram_of(latencies(5, 1)), 0.5).interval);
  EXPECT_TRUE(percentile_of(histogram_of(latencies(6, 1)), 0.5).interval);
  EXPECT_FALSE(percentile_of(histogram_of({700}), 0.5).interval);
  EXPECT_EQ(percentile_of(histogram_of({700}), 0.5).low_ns, 700);
}

TEST(Deviation, LiesBetweenItsBounds) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<std::uint64_t> values = latencies(300, seed);
    double sum = 0;
    double squares = 0;
    for (const std::uint64_t value : values) sum += static_cast<double>(value);
    for (const std::uint64_t value : values) squares += std::pow(static_cast<double>(value) - sum / 300, 2);
    const double exact = std::sqrt(squares / 300);
    const Deviation deviation = deviation_of(histogram_of(values));
    EXPECT_LE(deviation.low_ns, exact);
    EXPECT_GE(deviation.high_ns, exact);
    EXPECT_LE(deviation.high_ns - deviation.low_ns, 0.3 * exact);
  }
  EXPECT_EQ(deviation_of(histogram_of({700, 700})).high_ns, 0);
}

std::vector<MeasuredTest> suite_of_tests(std::size_t tests, std::size_t repetitions, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<MeasuredTest> suite(tests);
  for (MeasuredTest& test : suite) {
    const double own = std::exp(normal(random));
    for (std::size_t i = 0; i < repetitions; ++i) test.values.push_back(1e6 * own * (1 + 0.01 * normal(random)));
  }
  return suite;
}

TEST(Outliers, ThatArePlantedAreFoundWithTheirSeverity) {
  std::vector<MeasuredTest> suite = suite_of_tests(100, 2, 7);
  suite[31].values = {1e6 * std::exp(20), 1e6 * std::exp(20.1)};
  suite[64].values = {1e6 * std::exp(6), 1e6 * std::exp(6.1)};
  const Outliers outliers = outliers_of(suite);
  ASSERT_EQ(outliers.found.size(), 2U);
  EXPECT_EQ(outliers.found[0].test, 31U);
  EXPECT_EQ(outliers.found[0].severity, Severity::high);
  EXPECT_EQ(outliers.found[0].value, suite[31].values[0]) << "the repetition that is less unusual";
  EXPECT_EQ(outliers.found[1].test, 64U);
  EXPECT_NEAR(outliers.found[1].z, 6, 1.5);
}

TEST(Outliers, AreNotTestsThatDoLittle) {
  std::vector<MeasuredTest> suite = suite_of_tests(100, 2, 7);
  suite[31].values = {1, 1};
  EXPECT_TRUE(outliers_of(suite).found.empty());
}

TEST(Outliers, AreOutliersInEachRepetition) {
  std::vector<MeasuredTest> suite = suite_of_tests(100, 2, 7);
  suite[31].values = {1e6, 1e6 * std::exp(20)};
  suite[32].values = {1e6 * std::exp(-20), 1e6 * std::exp(20)};
  EXPECT_TRUE(outliers_of(suite).found.empty());
}

TEST(Outliers, AreRareAmongNormalTests) {
  const auto found_in = [](std::size_t suites, std::size_t tests) {
    std::size_t found = 0;
    for (std::uint64_t seed = 0; seed < suites; ++seed)
      found += outliers_of(suite_of_tests(tests, 1, seed)).found.size();
    return found;
  };
  // A normal value is above 3.5 in 2.3 of 10000 cases. The MAD of few tests is uncertain, so that there are more.
  EXPECT_LE(found_in(500, 200), 60U) << "of 100000 tests";
  EXPECT_LE(found_in(5000, 20), 450U) << "of 100000 tests in groups as small as can be";
}

TEST(Outliers, AreNotNamedWithoutAScale) {
  std::vector<MeasuredTest> suite(30, MeasuredTest{"S.T", {4}});
  suite[3].values = {1e9};
  EXPECT_EQ(outliers_of(suite).reason, "half of the tests or more have the same value");
  EXPECT_TRUE(outliers_of(suite).found.empty());
  suite.resize(19);
  EXPECT_EQ(outliers_of(suite).reason, "fewer than 20 tests have a value above 0");
  EXPECT_EQ(outliers_of(std::vector<MeasuredTest>(30, MeasuredTest{"S.T", {0}})).tests, 0U);
}

TEST(Spearman, IsThatOfTheTextbook) {
  // Ten pupils, IQ and hours of television: rho = -29/165.
  const std::vector<double> iq = {106, 86, 100, 101, 99, 103, 97, 113, 112, 110};
  const std::vector<double> hours = {7, 0, 27, 50, 28, 29, 20, 12, 6, 17};
  EXPECT_NEAR(spearman(iq, hours), -29.0 / 165, 1e-12);
  EXPECT_NEAR(spearman(iq, iq), 1, 1e-12);
  EXPECT_EQ(spearman(iq, std::vector<double>(10, 3.0)), 0);
  EXPECT_NEAR(spearman(std::vector<double>{1, 2, 2, 3}, std::vector<double>{1, 2, 2, 9}), 1, 1e-12);
}

TEST(Correlations, ThatArePlantedAreFound) {
  std::mt19937_64 random(3);
  std::vector<CallSeries> series = {{"openat", {}}, {"close", {}}, {"write", {}}, {"rename", {}}, {"futex", {}}};
  for (int i = 0; i < 60; ++i) {
    const double files = 1 + static_cast<double>(random() % 50);
    series[0].calls.push_back(files);
    series[1].calls.push_back(files + static_cast<double>(random() % 3));
    series[2].calls.push_back(static_cast<double>(random() % 50));
    series[3].calls.push_back(i < 4 ? 1 : 0);
    series[4].calls.push_back(7);
  }
  const Correlations correlations = correlations_of(series);
  EXPECT_EQ(correlations.pairs, 3U) << "a syscall of four tests, and one that is the same in all, are left out";
  ASSERT_EQ(correlations.found.size(), 1U);
  EXPECT_EQ(correlations.found[0].first, 0U);
  EXPECT_EQ(correlations.found[0].second, 1U);
  EXPECT_GT(correlations.found[0].rho, 0.99);
}

TEST(Correlations, OfSyscallsThatMoveTogetherAreToldOnce) {
  std::mt19937_64 random(5);
  std::vector<CallSeries> series = {{"openat", {}}, {"newfstatat", {}}, {"lseek", {}}, {"write", {}}, {"pwrite64", {}}};
  for (int i = 0; i < 60; ++i) {
    const double files = static_cast<double>(random() % 50);
    for (std::size_t one = 0; one < 3; ++one) series[one].calls.push_back(files * static_cast<double>(one + 1));
    const double written = files + static_cast<double>(random() % 20);
    series[3].calls.push_back(written);
    series[4].calls.push_back(written);
  }
  // Four of ten pairs: openat with each of its set, write with pwrite64, and openat with write.
  const Correlations correlations = correlations_of(series);
  ASSERT_EQ(correlations.found.size(), 4U);
  EXPECT_EQ(correlations.repeated, 6U);
  for (const Correlation& one : correlations.found) EXPECT_TRUE(one.first == 0 || one.first == 3);
  EXPECT_EQ(correlations.found.back().first, 0U);
  EXPECT_EQ(correlations.found.back().second, 3U);
}

TEST(Correlations, OfIndependentCountsAreNotFound) {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<CallSeries> series(12);
    for (CallSeries& one : series) {
      for (std::size_t i = 0; i < kLeastTestsForCorrelation; ++i)
        one.calls.push_back(static_cast<double>(random() % 9));
    }
    found += correlations_of(series).found.size();
  }
  EXPECT_LE(found, 1U) << "of 1320 pairs";
}

TEST(Correlations, NeedTests) {
  const std::vector<CallSeries> series = {{"a", std::vector<double>(19, 1)}, {"b", std::vector<double>(19, 1)}};
  EXPECT_EQ(correlations_of(series).reason, "fewer than 20 tests make calls that tell what they do");
}

}  // namespace
}  // namespace syscost::bench::stats
