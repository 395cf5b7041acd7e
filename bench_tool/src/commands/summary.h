// SPDX-License-Identifier: MIT
//
// bench summary: the syscalls of each test.
//
// strace -c prints one table for a whole process. In it time spent waiting hides the work, and a share of syscall time
// is easily taken for a share of run time. Here each test has its own table, waits have a separate one, and both shares
// have their own column. Of many tests it prints an overview (summary_overview.h), and the tables on request.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "cli/options.h"
#include "model/dataset.h"
#include "render/paint.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int summary(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// One RUN with the summaries of its windows.
struct SummarizedRun {
  model::Dataset data;
  std::vector<stats::WindowSummary> windows;
  /// Of the counts, without traces: `tiny-writes: 1200 writes ...`, by the name of the window.
  std::map<std::string, std::vector<std::string>, std::less<>> findings;
};

/// What a reader should notice about a window of `run`: losses, then findings, then calls that are not in the counts.
std::vector<std::string> remarks(const SummarizedRun& run, const stats::WindowSummary& window);

/// The tables of each test; lines of at most `width` columns (0: any).
std::string summary_text(const std::vector<SummarizedRun>& runs, std::size_t width, const render::Paint& paint);
std::string summary_markdown(const std::vector<SummarizedRun>& runs);
std::string summary_json(const std::vector<SummarizedRun>& runs);
std::string summary_csv(const std::vector<SummarizedRun>& runs);

}  // namespace syscost::bench::commands
