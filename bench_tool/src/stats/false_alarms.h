// SPDX-License-Identifier: MIT
//
// FalseAlarms: estimates how many tests the next run will call changed although nothing changed.
//
// A count that was the same in n runs is judged exactly. Some of these counts vary all the same, too seldom for n runs
// to show it. The runs themselves tell how often: compare each run with all others, as if it were the next one. What
// differs then was seen once among all runs. Its number over n is Good and Turing's estimate of how much the next draw
// brings that was not seen before (Good 1953).
#pragma once

#include <cstddef>
#include <string>

namespace syscost::bench::stats {

/// Fewer runs tell nothing: if two differ, each departs from the other.
inline constexpr std::size_t kFewestRuns = 3;

struct FalseAlarms {
  std::size_t runs = 0;
  std::size_t departed = 0;  ///< Red tests of each run compared with the others; the sum over all runs.

  bool is_known() const { return runs >= kFewestRuns; }
  /// Only if is_known().
  double expected() const { return static_cast<double>(departed) / static_cast<double>(runs); }
  /// The expectation is below this with a confidence of 95 %: the bound of a Poisson count over the number of runs.
  double at_most() const;
  /// `false alarms of a run that changes nothing: about 0.3 tests, at most 1.6 (95 %), ...`.
  std::string text() const;
};

}  // namespace syscost::bench::stats
