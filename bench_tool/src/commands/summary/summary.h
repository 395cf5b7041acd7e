// SPDX-License-Identifier: MIT
//
// bench summary: the syscalls of each test.
//
// strace -c prints one table for a whole process. In it time spent waiting hides the work, and a share of syscall time
// is easily taken for a share of run time. Here each test has its own table, waits have a separate one, and both shares
// have their own column. For many tests it prints an overview (summary_overview.h), and the tables on request.
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "model/dataset.h"
#include "render/terminal.h"
#include "stats/latency.h"
#include "stats/suite_statistics.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int summary(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// One RUN with the summaries of its windows.
struct SummarizedRun {
  model::Dataset data;
  std::vector<stats::WindowSummary> windows;
  /// Findings of the counts, without traces: `tiny-writes: 1200 writes ...`, by the name of the window.
  std::map<std::string, std::vector<std::string>, std::less<>> findings;
};

/// The remarks on a window of `run`: losses, then findings, then calls that are not in the counts.
std::vector<std::string> remarks(const SummarizedRun& run, const stats::WindowSummary& window);

/// The tables of each test; lines of at most `width` columns (0: any).
std::string summary_text(const std::vector<SummarizedRun>& runs, std::size_t width, const render::Paint& paint);
std::string summary_markdown(const std::vector<SummarizedRun>& runs);
std::string summary_json(const std::vector<SummarizedRun>& runs);
std::string summary_csv(const std::vector<SummarizedRun>& runs);

/// summary --stats-extended: each syscall's latencies over all tests, tests that are far above the others, and syscalls
/// that go together. Returns the exit code.
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
  std::size_t lossy_tests = 0;  ///< Their counts are lower bounds.
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
