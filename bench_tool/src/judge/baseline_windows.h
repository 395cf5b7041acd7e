// SPDX-License-Identifier: MIT
//
// baseline_windows: turns windows into lines of a baseline, and back. So `check` compares a run with ordinary
// WindowSummary objects, by the rules of `compare`. The runs of a new baseline also tell how many false alarms to
// expect.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "judge/count_policy.h"
#include "model/baseline.h"
#include "model/dataset.h"
#include "stats/window_summary.h"

namespace syscost::bench::judge {

/// Fewer runs tell nothing: if two differ, each departs from the other.
inline constexpr std::size_t kFewestRuns = 3;

/// Estimates how many tests the next run will call changed although nothing changed.
///
/// A count that was the same in n runs is judged exactly. Some of these counts vary all the same, too seldom for n runs
/// to show it. The runs themselves tell how often: compare each run with all others, as if it were the next one. A
/// difference that appears then was seen once among all runs. The number of such differences over n is Good and
/// Turing's estimate of how much the next draw brings that was not seen before (Good 1953).
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

/// What was counted in the runs of the baseline: `%network`; "" for everything.
std::string_view filter_of(const model::Baseline& baseline);

/// The lines of a window. If its numbers are not whole (see fault_of()), it has no counts.
model::BaselineWindow to_baseline(const stats::WindowSummary& window, std::string program, std::string name);

/// True when a repetition failed. The lines of such a window hold no counts.
bool has_failed(const stats::WindowSummary& window);

/// Why a window's numbers cannot serve as a baseline.
struct BaselineFault {
  std::string text;  ///< "" if they can.
  /// The option that writes the window without counts; "" if none does.
  std::string_view allowed_by = {};
};
inline constexpr std::string_view kAllowFailed = "--allow-failed";
inline constexpr std::string_view kAllowLost = "--allow-lost";
BaselineFault fault_of(const stats::WindowSummary& window);

/// The window of the lines. Its views point into `baseline`, which must outlive it.
stats::WindowSummary from_baseline(const model::Baseline& baseline, const model::BaselineWindow& window);

/// Compares each run of `data` with all others together, and counts the tests that are called regressed by mistake; the
/// sum over all runs. With fewer than kFewestRuns runs it finds none.
FalseAlarms false_alarms_of(const model::Dataset& data, const std::vector<model::Group>& groups,
                            const CountPolicy& policy);

}  // namespace syscost::bench::judge
