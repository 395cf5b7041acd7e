// SPDX-License-Identifier: MIT
//
// Looks: when a measurement that runs until it has an answer may look at its samples.
//
// A test after every round finds a "significant" difference in equal code sooner or later. So a look is taken only
// when the number of rounds has doubled, and the i-th look gets 1 / 2^i of the chance of a false alarm. All looks
// together never get more than the whole chance, at whichever look the measurement ends.
#pragma once

#include <cstddef>

namespace syscost::bench::stats {

struct InterimAnalysis {
  std::size_t rounds = 0;  ///< Samples of each side.
  double shares = 1;       ///< For TimeLimits.
};

/// The first look at `tests` tests: after `least` rounds, or after enough to show one change among these tests.
InterimAnalysis first_look(std::size_t least, std::size_t tests, double alpha);

/// The one after `last`.
InterimAnalysis next_look(const InterimAnalysis& last);

}  // namespace syscost::bench::stats
