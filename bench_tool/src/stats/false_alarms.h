// SPDX-License-Identifier: MIT
//
// FalseAlarms: how many tests of a run that changed nothing will be called changed, estimated before it is made.
//
// A count that was the same in n runs is judged exactly, and some of these counts vary all the same, too seldom for n
// runs to show it. How often they will, the runs there are can say: each of them, held against the others, is a next
// run. What each alone shows is what is seen once among all, and that over n is Good and Turing's estimate of what the
// next draw brings that was not seen before (Good 1953).
#pragma once

#include <cstddef>
#include <string>

namespace syscost::bench::stats {

/// Fewer runs than this tell nothing: of two that differ each departs from the other.
inline constexpr std::size_t kFewestRuns = 3;

struct FalseAlarms {
  std::size_t runs = 0;
  std::size_t departed = 0;  ///< Tests that were red in a run held against the others, all runs added up.

  bool is_known() const { return runs >= kFewestRuns; }
  /// Where it is known.
  double expected() const { return static_cast<double>(departed) / static_cast<double>(runs); }
  /// The expectation is below this with a confidence of 95 %: the bound of a Poisson count over the number of runs.
  double at_most() const;
  /// `false alarms of a run that changes nothing: about 0.3 tests, at most 1.6 (95 %), ...`.
  std::string text() const;
};

}  // namespace syscost::bench::stats
