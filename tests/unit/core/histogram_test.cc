// SPDX-License-Identifier: MIT
//
// The bucket layout is a file format: bench reads what the kernel side counted. So every boundary is checked.
#include "syscost/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace syscost {
namespace {

constexpr std::uint64_t kLimit = std::uint64_t{1} << kHistogramMaxBits;

// Latencies as they occur: spread evenly over the powers of two.
std::vector<std::uint64_t> random_latencies(std::size_t count, std::uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> values(count);
  for (std::uint64_t& value : values) value = random() >> (24 + random() % 40);
  return values;
}

Histogram histogram_of(const std::vector<std::uint64_t>& values) {
  Histogram histogram;
  for (std::uint64_t value : values) histogram.add(value);
  return histogram;
}

TEST(HistogramLayout, PutsEveryBoundaryIntoTheBucketItOpens) {
  for (std::size_t bucket = 0; bucket < kHistogramBuckets; ++bucket) {
    EXPECT_EQ(histogram_bucket(histogram_lower_ns(bucket)), bucket);
    EXPECT_EQ(histogram_bucket(histogram_upper_ns(bucket) - 1), bucket);
  }
}

TEST(HistogramLayout, LeavesNoGapBetweenBuckets) {
  EXPECT_EQ(histogram_lower_ns(0), 0U);
  for (std::size_t bucket = 0; bucket + 1 < kHistogramBuckets; ++bucket) {
    EXPECT_EQ(histogram_upper_ns(bucket), histogram_lower_ns(bucket + 1));
    EXPECT_LT(histogram_lower_ns(bucket), histogram_upper_ns(bucket));
  }
  EXPECT_EQ(histogram_upper_ns(kHistogramBuckets - 1), kLimit);
}

TEST(HistogramLayout, SplitsEachPowerOfTwoIntoEightEqualBuckets) {
  for (unsigned power = kHistogramSubBits; power < kHistogramMaxBits; ++power) {
    std::uint64_t start = std::uint64_t{1} << power;
    std::size_t first = histogram_bucket(start);
    for (std::uint64_t sub = 0; sub < 8; ++sub) {
      EXPECT_EQ(histogram_lower_ns(first + sub), start + sub * (start / 8));
    }
  }
}

TEST(HistogramLayout, KeepsBucketsAtMostAnEighthWide) {
  for (std::size_t bucket = kHistogramSubBuckets; bucket < kHistogramBuckets; ++bucket) {
    EXPECT_LE((histogram_upper_ns(bucket) - histogram_lower_ns(bucket)) * 8, histogram_lower_ns(bucket));
  }
}

TEST(HistogramLayout, CountsWhatIsBeyondTheLastBoundInTheLastBucket) {
  EXPECT_EQ(histogram_bucket(kLimit - 1), kHistogramBuckets - 1);
  EXPECT_EQ(histogram_bucket(kLimit), kHistogramBuckets - 1);
  EXPECT_EQ(histogram_bucket(UINT64_MAX), kHistogramBuckets - 1);
}

TEST(Histogram, IsAllZeroWhenNothingWasAdded) {
  Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.min_ns(), 0U);
  EXPECT_EQ(histogram.max_ns(), 0U);
  EXPECT_EQ(histogram.percentile_ns(0.5), 0U);
}

TEST(Histogram, KeepsCountSumMinimumAndMaximumExactly) {
  std::vector<std::uint64_t> values = random_latencies(1000, 7);
  Histogram histogram = histogram_of(values);
  std::uint64_t sum = 0;
  for (std::uint64_t value : values) sum += value;
  EXPECT_EQ(histogram.count(), values.size());
  EXPECT_EQ(histogram.sum_ns(), sum);
  EXPECT_EQ(histogram.min_ns(), *std::min_element(values.begin(), values.end()));
  EXPECT_EQ(histogram.max_ns(), *std::max_element(values.begin(), values.end()));
}

TEST(Histogram, DoesNotLetExactFiguresOfNothingChangeTheMinimum) {
  Histogram histogram;
  histogram.add(50);
  histogram.add_exact(0, 0, 0, 0);
  EXPECT_EQ(histogram.min_ns(), 50U);
  EXPECT_EQ(histogram.count(), 1U);
}

TEST(Histogram, AnswersPercentilesWithinHalfABucketOfTheSortedValues) {
  for (std::size_t count : {1U, 2U, 3U, 10U, 99U, 100U, 101U, 1000U}) {
    std::vector<std::uint64_t> values = random_latencies(count, static_cast<std::uint32_t>(count));
    Histogram histogram = histogram_of(values);
    std::sort(values.begin(), values.end());
    for (double fraction : {0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0}) {
      auto rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(count)));
      std::uint64_t exact = values[rank - 1];
      std::uint64_t answer = histogram.percentile_ns(fraction);
      std::size_t bucket = histogram_bucket(exact);
      if (bucket >= kHistogramBuckets) FAIL() << "there is no bucket " << bucket;
      EXPECT_EQ(histogram_bucket(answer), bucket) << count << " values, fraction " << fraction;
      std::uint64_t half = (histogram_upper_ns(bucket) - histogram_lower_ns(bucket) + 1) / 2;
      EXPECT_LE(std::max(exact, answer) - std::min(exact, answer), half) << count << " values, fraction " << fraction;
    }
  }
}

TEST(Histogram, AnswersASingleValueExactly) {
  Histogram histogram;
  histogram.add(1'000'003);
  EXPECT_EQ(histogram.percentile_ns(0.5), 1'000'003U);
  EXPECT_EQ(histogram.percentile_ns(0.99), 1'000'003U);
}

TEST(Histogram, AnswersAPercentileOfWhatIsBeyondItsRangeByTheMaximum) {
  Histogram histogram;
  histogram.add(kLimit * 4);
  EXPECT_EQ(histogram.percentile_ns(0.5), kLimit * 4);
}

TEST(Histogram, MergesToWhatOneHistogramOfAllValuesHolds) {
  std::vector<std::uint64_t> left = random_latencies(500, 1);
  std::vector<std::uint64_t> right = random_latencies(300, 2);
  Histogram merged = histogram_of(left);
  merged.merge(histogram_of(right));
  merged.merge(Histogram());
  left.insert(left.end(), right.begin(), right.end());
  Histogram all = histogram_of(left);
  EXPECT_EQ(merged.count(), all.count());
  EXPECT_EQ(merged.sum_ns(), all.sum_ns());
  EXPECT_EQ(merged.min_ns(), all.min_ns());
  EXPECT_EQ(merged.max_ns(), all.max_ns());
  for (std::size_t i = 0; i < kHistogramBuckets; ++i) EXPECT_EQ(merged.bucket_count(i), all.bucket_count(i)) << i;
}

TEST(Histogram, TakesTheOtherMinimumWhenItWasEmpty) {
  Histogram empty;
  Histogram other;
  other.add(9);
  empty.merge(other);
  EXPECT_EQ(empty.min_ns(), 9U);
}

}  // namespace
}  // namespace syscost
