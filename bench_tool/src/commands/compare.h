// SPDX-License-Identifier: MIT
//
// bench compare: what changed between two runs, as one table and one exit code.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/options.h"
#include "model/dataset.h"
#include "model/group.h"
#include "render/paint.h"
#include "stats/verdict.h"

namespace syscost::bench::commands {

/// Returns the exit code: 2 before 1 before 3, because a verdict on half-read input is none.
int compare(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// Everything the renderers need.
struct CompareResult {
  model::Dataset old_data;
  model::Dataset new_data;
  std::vector<stats::WindowSummary> old_windows;
  std::vector<stats::WindowSummary> new_windows;
  std::vector<stats::Comparison> rows;  ///< All, changed or not.
  std::string paired;                   ///< `A -> B (one test in each file)`; empty when names decided.
  std::vector<std::string> warnings;
  bool times_comparable = true;  ///< Same backend and build type.
  std::string old_backend;       ///< Under which the times of a side were taken.
  std::string new_backend;
};

/// Counts per verdict in the order of stats::Verdict, e.g. "1 regressed, 2 improved, 14 same".
std::string verdict_line(const CompareResult& result);
/// `+1 openat, -2 lseek; +3 ENOENT`.
std::string breakdown(const stats::Comparison& row);

/// The table for people; changed rows unless `all`.
std::string compare_text(const CompareResult& result, bool all, bool markdown, const render::Paint& paint);
/// For machines: every row, changed or not.
std::string compare_json(const CompareResult& result);
std::string compare_csv(const CompareResult& result);

}  // namespace syscost::bench::commands
