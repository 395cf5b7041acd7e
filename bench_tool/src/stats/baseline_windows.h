// SPDX-License-Identifier: MIT
//
// Windows to lines of a baseline and back: what `check` holds a run against is a WindowSummary like any other, so that
// the judge of `compare` judges it.
#pragma once

#include <string>
#include <vector>

#include "model/baseline.h"
#include "model/dataset.h"
#include "model/group.h"
#include "stats/count_policy.h"
#include "stats/false_alarms.h"
#include "stats/window_summary.h"

namespace syscost::bench::stats {

/// The lines of a window; its numbers must be whole (see fault_of()).
model::BaselineWindow to_baseline(const WindowSummary& window, std::string program, std::string name);

/// True when a repetition failed. The lines of such a window hold no counts.
bool has_failed(const WindowSummary& window);

/// Why a window's numbers cannot be what later runs are held against; "" where they can.
std::string fault_of(const WindowSummary& window);

/// What the lines say. Views point into `baseline`, which must outlive it.
WindowSummary from_baseline(const model::Baseline& baseline, const model::BaselineWindow& window);

/// Holds each run of `data` against the others together: how many tests are called regressed by mistake, all runs added
/// up. With fewer than kFewestRuns runs none is found.
FalseAlarms false_alarms_of(const model::Dataset& data, const std::vector<model::Group>& groups,
                            const CountPolicy& policy);

}  // namespace syscost::bench::stats
