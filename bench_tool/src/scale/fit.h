// SPDX-License-Identifier: MIT
//
// Fits one form of law to whole numbers: exactly, or not at all. One form holds on average only: x/b of a benchmark
// that writes after some of its iterations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "scale/law.h"
#include "scale/solve_law.h"

namespace syscost::bench::scale {

/// The values of a law's variable, and beside each the count in units of 1/unit.
struct Samples {
  std::vector<std::int64_t> x;
  std::vector<std::int64_t> y;
  std::int64_t unit = 1;
};

/// Appends the constant law if it fits.
void fit_constant(const Samples& samples, std::vector<Law>& laws);
/// Appends a curve(x) + c if it fits with a > 0. `base` has the variable and the factor.
void fit_curve(const Samples& samples, Curve curve, const Law& base, std::vector<Law>& laws);
/// Appends the laws a ceil(x/b) + c and a floor(x/b) + c that fit with 0 < a <= b, and c >= 0 or c = -a (no first
/// block).
void fit_blocks(const Samples& samples, const Law& base, std::vector<Law>& laws);
/// Appends a t1 + a2 t2 + c if it fits with a > 0. `terms` are t1 and t2 of each sample.
void fit_two_terms(const std::vector<std::array<std::int64_t, 2>>& terms, const Samples& samples, const Law& base,
                   std::vector<Law>& laws);

/// How many values are different.
std::size_t distinct(std::vector<std::int64_t> values);

/// Appends the law x/b on average if it fits the totals.
///
/// A benchmark that appends n bytes in each iteration to a buffer of b bytes writes after some iterations only. Its
/// counts per iteration are fractions; the counts of its whole passes are n/b times the iterations, rounded up or down.
void fit_average(const Counts& counts, std::vector<Law>& laws);
/// True if every total is x/b times its iterations, rounded up or down, for a b of the law's.
bool average_reproduces(const Law& law, const Counts& counts);
/// As Solved::chance.
double average_chance(const Counts& counts);

}  // namespace syscost::bench::scale
