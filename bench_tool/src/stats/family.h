// SPDX-License-Identifier: MIT
//
// A family: the tests of one comparison, each with its p.
//
// Fifty tests at p < 0.05 raise two or three false alarms a night. Adjusted after Benjamini and Hochberg (1995) the
// share of false alarms among all alarms is limited instead; when nothing changed, so is the chance of any.
#pragma once

#include <cstddef>
#include <vector>

namespace syscost::bench::stats {

/// The adjusted p of each, in the order given.
std::vector<double> adjusted_p(const std::vector<double>& p);

/// Samples that each side needs so that one changed test among `tests` can reach an adjusted p below `alpha`.
std::size_t samples_needed(std::size_t tests, double alpha);

/// The geometric mean of at least one positive value.
double geometric_mean(const std::vector<double>& values);

}  // namespace syscost::bench::stats
