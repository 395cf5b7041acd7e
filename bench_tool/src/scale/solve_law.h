// SPDX-License-Identifier: MIT
//
// Solves counts for a law. A law is said only if it reproduces every count, if the sizes are more than its parameters,
// and if chance is no likely explanation: laws with a few free numbers fit a few small counts too easily.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "scale/law.h"

namespace syscost::bench::scale {

/// Larger counts have no law, so that sums of two fit.
inline constexpr std::int64_t kLargestCount = (std::int64_t{1} << 62) - 1;

/// A count that belongs to so many iterations: what a repetition of a benchmark counted.
struct PassTotal {
  std::size_t point = 0;  ///< Index into Counts::sizes.
  std::int64_t calls = 0;
  std::int64_t iterations = 1;
};

/// The counts of one syscall over the sizes of a family. All sizes are different.
struct Counts {
  std::vector<Size> sizes;
  std::vector<Rational> values;
  std::vector<PassTotal> totals;  ///< For laws that hold on average; empty: there are none to look for.
  bool has_two = false;           ///< Both numbers of a size vary.
  bool varies = false;            ///< Repetitions differ, so that only an average may hold.
};

/// A count that a law does not reproduce.
struct Break {
  std::size_t point = 0;
  Rational expected;
};

enum class Solution {
  law,      ///< `law` reproduces every count.
  too_few,  ///< `law` does too, but so few sizes, or so small counts, do not show that it is one.
  no_law,   ///< No law does. If `has_candidate`, `law` is the best candidate, and `breaks` the counts that break it.
};

struct Solved {
  Solution solution = Solution::no_law;
  Law law;
  std::vector<Law> also;           ///< Other laws with as few parameters, or one more, that reproduce every count.
  bool has_enough_counts = false;  ///< There are more different counts than parameters, and three or more.
  bool has_candidate = false;
  std::vector<Break> breaks;
  /// If the counts were random numbers between the least and the greatest of them: how likely it is that a law with as
  /// few parameters reproduces all of them. An upper bound, at most 1.
  double chance = 1;
};

/// A law is said if chance explains the counts with at most this probability.
inline constexpr double kMostChance = 0.01;

Solved solve(const Counts& counts);

/// Every law that reproduces all counts, the fewest parameters first, then in the order of docs/scale.md.
std::vector<Law> fitting_laws(const Counts& counts);

/// True if `law` reproduces every one of the counts, with each of its block sizes.
bool reproduces(const Law& law, const Counts& counts);

/// The least and the greatest count, in units of the counts; `high` > `low`.
struct CountRange {
  std::int64_t low = 0;
  std::int64_t high = 0;

  double numbers() const { return static_cast<double>(high - low) + 1; }
};

/// How many lists the laws a curve(x) + c with at most `parameters` free numbers make within `range`.
///
/// A law with free numbers fits a few small counts by chance: for 1, 1, 1, 2 over four sizes it says ceil(n/b), but
/// every fifth list of ones and twos grows by one step. So the lists of counts that the laws can make are counted, and
/// divided by all lists of numbers between the least and the greatest count.
double lists_of_curve(const std::vector<std::int64_t>& x, Curve curve, std::size_t parameters, const CountRange& range);

/// The same for a ceil(x/b) + c and a floor(x/b) + c together; an upper bound. `enough`: a larger number need not be
/// exact.
double lists_of_blocks(const std::vector<std::int64_t>& x, std::size_t parameters, const CountRange& range,
                       double enough);

}  // namespace syscost::bench::scale
