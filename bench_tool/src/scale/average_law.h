// SPDX-License-Identifier: MIT
//
// The law x/b on average: a benchmark that appends n bytes in each iteration to a buffer of b bytes writes after some
// iterations only. Its counts per iteration are fractions; the counts of its whole passes are n/b times the iterations,
// rounded up or down.
#pragma once

#include <vector>

#include "scale/solve_law.h"

namespace syscost::bench::scale {

/// Appends the law if it fits the totals.
void fit_average(const Counts& counts, std::vector<Law>& laws);
/// True if every total is x/b times its iterations, rounded up or down, for a b of the law's.
bool average_reproduces(const Law& law, const Counts& counts);
/// As Solved::chance.
double average_chance(const Counts& counts);

}  // namespace syscost::bench::scale
