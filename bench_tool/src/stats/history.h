// SPDX-License-Identifier: MIT
//
// History: what a test asked of the kernel in one run after the other, and where that changed.
//
// A run is held against all runs since the last step, not against the one before: a count that varies does so within
// them, and is judged by its spread, as compare judges it.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/dataset.h"
#include "model/group.h"
#include "stats/change_points.h"
#include "stats/count_policy.h"
#include "stats/verdict.h"
#include "stats/window_summary.h"

namespace syscost::bench::stats {

/// Runs before that a run is held against, at most.
inline constexpr std::size_t kMostRunsBefore = 20;

struct HistoryRun {
  model::NameId run_id = model::kNoName;
  const model::Context* context = nullptr;  ///< Of the program that started first.
  std::optional<WindowSummary> window;      ///< None where the test did not run.
  std::optional<WindowSummary> before;      ///< The runs that it was held against, where the counts changed.
  std::optional<Comparison> step;           ///< How they changed.
  std::optional<ChangePoint> wall_step;
  std::optional<ChangePoint> cpu_step;
};

/// The runs of `test`, the oldest first; those of its program without it are there as well. `threshold`: share of a
/// time that matters. Points into `data` and into itself.
std::deque<HistoryRun> history_of(const model::Dataset& data, const model::Group& test, const CountPolicy& policy,
                                  double threshold);

}  // namespace syscost::bench::stats
