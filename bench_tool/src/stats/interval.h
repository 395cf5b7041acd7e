// SPDX-License-Identifier: MIT
//
// Interval: the range that holds a true value with a stated probability, for any distribution of the samples.
//
// Times are not normally distributed: a few repetitions are disturbed and take far longer. Intervals made of order
// statistics ask nothing of the distribution. They come in steps, so each says the level that it attains.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace syscost::bench::stats {

struct Interval {
  double low = 0;
  double high = 0;
  double level = 0;  ///< Attained; at least what was asked for.

  bool contains(double value) const { return low <= value && value <= high; }
};

struct MedianInterval {
  double median = 0;
  std::optional<Interval> interval;  ///< None where all samples together do not attain the level.
};

/// The sorted median; `sorted` holds at least one value.
double median_of(std::span<const double> sorted);

/// The median of at least one value and the narrowest symmetric pair of order statistics around it that attains
/// `level`: the number of samples below the true median is binomial with probability 1/2 (Conover, Practical
/// Nonparametric Statistics, 3.2). From 6 samples on for 95 %.
MedianInterval median_interval(std::vector<double> values, double level);

/// How many times as long NEW takes as OLD.
struct Ratio {
  double estimate = 1;
  std::optional<Interval> interval;  ///< None where the samples cannot attain the level.
};

/// Hodges-Lehmann: the median of all ratios new[j] / old[i], with the interval that inverts the Mann-Whitney test
/// (Hollander and Wolfe, Nonparametric Statistical Methods, 4.2-4.3), exact where that test is. With ties the interval
/// is wider than it needs to be, never narrower. None of the values may be 0 or less; neither side may be empty.
/// O((n1 + n2) log) in time: the n1 * n2 ratios are never written down.
Ratio shift_ratio(std::span<const double> old_values, std::span<const double> new_values, double level);

}  // namespace syscost::bench::stats
