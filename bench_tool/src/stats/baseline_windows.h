// SPDX-License-Identifier: MIT
//
// Turns windows into lines of a baseline, and back. So `check` compares a run with ordinary WindowSummary objects, by
// the rules of `compare`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/baseline.h"
#include "model/dataset.h"
#include "model/group.h"
#include "stats/count_policy.h"
#include "stats/false_alarms.h"
#include "stats/window_summary.h"

namespace syscost::bench::stats {

/// The lines of a window. If its numbers are not whole (see fault_of()), it has no counts.
model::BaselineWindow to_baseline(const WindowSummary& window, std::string program, std::string name);

/// True when a repetition failed. The lines of such a window hold no counts.
bool has_failed(const WindowSummary& window);

/// Why a window's numbers cannot serve as a baseline.
struct BaselineFault {
  std::string text;  ///< "" if they can.
  /// The option that writes the window without counts; "" if none does.
  std::string_view allowed_by = {};
};
inline constexpr std::string_view kAllowFailed = "--allow-failed";
inline constexpr std::string_view kAllowLost = "--allow-lost";
BaselineFault fault_of(const WindowSummary& window);

/// The window of the lines. Its views point into `baseline`, which must outlive it.
WindowSummary from_baseline(const model::Baseline& baseline, const model::BaselineWindow& window);

/// Compares each run of `data` with all others together, and counts the tests that are called regressed by mistake; the
/// sum over all runs. With fewer than kFewestRuns runs it finds none.
FalseAlarms false_alarms_of(const model::Dataset& data, const std::vector<model::Group>& groups,
                            const CountPolicy& policy);

}  // namespace syscost::bench::stats
