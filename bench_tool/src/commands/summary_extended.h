// SPDX-License-Identifier: MIT
//
// summary --stats-extended: each syscall's latencies over all tests, tests that are far above the others, and syscalls
// that go together.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "model/dataset.h"
#include "render/paint.h"
#include "stats/correlation.h"
#include "stats/outliers.h"
#include "stats/syscall_statistics.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int summary_extended(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// One measure of all tests, or of those of a group: their wall times, or how many calls they made.
struct MeasureOutliers {
  std::string_view title;  ///< `wall time`
  std::string_view name;   ///< `wall_ns`
  std::vector<stats::MeasuredTest> tests;
  stats::Outliers outliers;
  std::string group;  ///< As `bench groups` names it; empty: all tests.

  bool is_time() const { return name != "calls"; }
};

struct ExtendedRun {
  model::Dataset data;
  std::size_t tests = 0;
  std::vector<stats::SyscallStatistics> syscalls;
  std::vector<MeasureOutliers> measures;
  /// The same within each group of kLeastTestsForOutliers tests or more.
  std::vector<MeasureOutliers> measures_of_groups;
  std::size_t small_groups = 0;  ///< Groups with fewer tests.
  std::vector<stats::CallSeries> series;
  stats::Correlations correlations;
};

inline constexpr double kExtendedPercentiles[] = {0.50, 0.90, 0.99};

std::string extended_text(const ExtendedRun& run, const cli::Options& options, const render::Paint& paint);
std::string extended_markdown(const ExtendedRun& run, const cli::Options& options);
std::string extended_json(const std::vector<ExtendedRun>& runs);
/// The latencies alone: a line for each syscall.
std::string extended_csv(const std::vector<ExtendedRun>& runs);

}  // namespace syscost::bench::commands
