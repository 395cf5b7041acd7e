// SPDX-License-Identifier: MIT
//
// History: the counts of a test in one run after the other, and where they changed.
//
// A run is compared with all runs since the last step, not with the one before. These runs show the spread of a count
// that varies, and the count is judged by that spread, as compare judges it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
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

/// How many earlier runs a run is compared with, at most.
inline constexpr std::size_t kMostRunsBefore = 20;

/// All rows with one run_id.
struct RunOfHistory {
  model::NameId run_id = model::kNoName;
  const model::Context* context = nullptr;      ///< The program that started first.
  std::map<model::NameId, bool> ran_all_tests;  ///< Of each of its programs.
};

/// The runs of `data`, the oldest first; with `program`, those in which it ran.
std::vector<RunOfHistory> runs_in_order(const model::Dataset& data, std::optional<model::NameId> program = {});

/// The same test with these samples only.
model::Group with_samples(const model::Group& test, std::vector<std::uint32_t> samples);

struct HistoryRun {
  model::NameId run_id = model::kNoName;
  const model::Context* context = nullptr;  ///< The program that started first.
  std::optional<WindowSummary> window;      ///< None if the test did not run.
  std::optional<WindowSummary> before;      ///< The runs that it was compared with, if the counts changed.
  std::optional<Comparison> step;           ///< How they changed.
  std::optional<ChangePoint> wall_step;
  std::optional<ChangePoint> cpu_step;
};

/// The runs of `test`, the oldest first, with the runs of its program that lack the test. `threshold`: the share of a
/// time that matters. The result points into `data` and into itself.
std::deque<HistoryRun> history_of(const model::Dataset& data, const model::Group& test, const CountPolicy& policy,
                                  double threshold);

}  // namespace syscost::bench::stats
