// SPDX-License-Identifier: MIT
//
// significance: statistical tests of samples of times. They are the exact rank test, intervals for a true value, the
// adjustment for many tests at once, and the chance that each look at a running measurement may use up.
//
// Times are not normally distributed: a few repetitions are disturbed and take far longer. So all of these use ranks or
// order statistics, and ask nothing of the distribution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace syscost::bench::stats {

/// Exact up to so many pairs n1 * n2 of samples; with ties the distribution is computed for each test anew.
inline constexpr std::uint64_t kMostExactPairs = 2500;
inline constexpr std::uint64_t kMostExactPairsWithTies = 400;

/// The Mann-Whitney U test: whether two samples of times come from one distribution.
///
/// The exact distribution of U is that of all ways to deal the pooled samples out to the two sides. Ties get midranks
/// and the distribution is that of these very midranks, because a clock's resolution makes ties common. Past some
/// hundred pairs the normal approximation, corrected for ties, replaces it.
struct RankTest {
  double u = 0;  ///< Pairs in which NEW is the larger, ties counted half.
  double p = 1;  ///< Two-sided: twice the smaller tail, at most 1.
  bool is_exact = true;
};

/// Compares two samples. Each side needs at least one value.
RankTest rank_test(std::span<const double> old_values, std::span<const double> new_values);

/// The smallest p that samples of these sizes can give: 2 / C(n1 + n2, n1). 1 where a side is empty.
double smallest_p(std::size_t old_n, std::size_t new_n);

/// A lower tail of U without ties: P(U < count) = probability.
struct Tail {
  std::uint64_t count = 0;  ///< At least 1.
  double probability = 0;
};
/// The longest tail of at most `probability`; nullopt when even U = 0 is likelier.
std::optional<Tail> widest_tail(std::size_t old_n, std::size_t new_n, double probability);

/// The adjusted p of each test of one comparison, in the order given.
///
/// Fifty tests at p < 0.05 raise two or three false alarms a night. Adjusted after Benjamini and Hochberg (1995) the
/// share of false alarms among all alarms is limited instead; when nothing changed, so is the chance of any.
std::vector<double> adjusted_p(const std::vector<double>& p);

/// Samples that each side needs so that one changed test among `tests` can reach an adjusted p below `alpha`.
std::size_t samples_needed(std::size_t tests, double alpha);

/// The geometric mean of at least one positive value.
double geometric_mean(const std::vector<double>& values);

/// The range that holds a true value with a stated probability, for any distribution of the samples. Intervals made of
/// order statistics come in steps, so each says the level that it attains.
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

/// When a measurement that runs until it has an answer may look at its samples.
///
/// A test after every round finds a "significant" difference in equal code sooner or later. So a look is taken only
/// when the number of rounds has doubled, and the i-th look gets 1 / 2^i of the chance of a false alarm. All looks
/// together never get more than the whole chance, at whichever look the measurement ends.
struct InterimAnalysis {
  std::size_t rounds = 0;  ///< Samples of each side.
  double shares = 1;       ///< For TimeLimits.
};

/// The first look at `tests` tests: after `least` rounds, or after enough to show one change among these tests.
InterimAnalysis first_look(std::size_t least, std::size_t tests, double alpha);

/// The one after `last`.
InterimAnalysis next_look(const InterimAnalysis& last);

}  // namespace syscost::bench::stats
