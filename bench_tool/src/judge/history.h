// SPDX-License-Identifier: MIT
//
// History: the counts and times of a test in one run after the other, and where they changed.
//
// A run is compared with all runs since the last step, not with the one before. These runs show the spread of a count
// that varies, and the count is judged by that spread, as compare judges it. Steps of times are found in the whole
// history.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/count_policy.h"
#include "judge/verdict.h"
#include "model/dataset.h"
#include "stats/window_summary.h"

namespace syscost::bench::judge {

/// With fewer values no order is rare enough to show a change. The clearest order of 10 values comes in 0.8 % of all
/// orders, but in more than 1 % of those that are drawn.
inline constexpr std::size_t kLeastHistory = 11;

/// A place in a history at which the times changed, and did not merely vary.
///
/// The time of one run says little. A history has many places, and the largest of many differences is large by chance.
/// So the whole history is judged at once. Each place splits it in two. The place counts at which the ranks of the two
/// sides are furthest apart (Mann-Whitney's statistic, standardised). Random orders of the same values show what chance
/// does. If at most one in a hundred orders has a place as far apart, it is a change, and each side is then judged in
/// the same way. docs/statistics.md has the rates of found changes and of false alarms.
struct ChangePoint {
  std::size_t at = 0;  ///< The first value after the change.
  double before = 0;   ///< Medians of the values since the previous change and up to the next one.
  double after = 0;
};

/// The changes of `values`, in their order, by more than `threshold` (a share) of what was before. Deterministic.
std::vector<ChangePoint> change_points(std::span<const double> values, double threshold);

/// How many earlier runs a run is compared with, at most.
inline constexpr std::size_t kMostRunsBefore = 20;

/// All rows with one run_id.
struct RunOfHistory {
  model::NameId run_id = model::kNoName;
  const model::Context* context = nullptr;      ///< The program that started first.
  std::map<model::NameId, bool> ran_all_tests;  ///< For each of its programs.
};

/// The runs of `data`, the oldest first; with `program`, those in which it ran.
std::vector<RunOfHistory> runs_in_order(const model::Dataset& data, std::optional<model::NameId> program = {});

/// The same test with these samples only.
model::Group with_samples(const model::Group& test, std::vector<std::uint32_t> samples);

struct HistoryRun {
  model::NameId run_id = model::kNoName;
  const model::Context* context = nullptr;     ///< The program that started first.
  std::optional<stats::WindowSummary> window;  ///< None if the test did not run.
  std::optional<stats::WindowSummary> before;  ///< The runs that it was compared with, if the counts changed.
  std::optional<Comparison> step;              ///< How they changed.
  std::optional<ChangePoint> wall_step;
  std::optional<ChangePoint> cpu_step;
};

/// The runs of `test`, the oldest first, with the runs of its program that lack the test. `threshold`: the share of a
/// time that matters. The result points into `data` and into itself.
std::deque<HistoryRun> history_of(const model::Dataset& data, const model::Group& test, const CountPolicy& policy,
                                  double threshold);

}  // namespace syscost::bench::judge
