// SPDX-License-Identifier: MIT
//
// bench show: the latency histograms of one test, drawn as bpftrace draws them.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/options.h"
#include "model/dataset.h"
#include "render/terminal.h"
#include "stats/latency.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int show(const cli::Options& options, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// A window that is shown: the test that was named, or one of its loops.
struct ShownWindow {
  stats::WindowSummary window;
  std::vector<stats::SyscallLatency> syscalls;
};

// In all functions `parts` is the named test or loop, then the loops that ran in it. After each window follows what
// tools counted in it. A tool's histogram has powers of two as borders. If one is shown, all others are drawn with the
// same borders, even if `is_fine`.

/// Leaves out a test that made no such call itself if its loops did. Lines have at most `width` columns; 0: any.
std::string show_text(const std::vector<ShownWindow>& parts, bool is_fine, const render::Paint& paint,
                      std::size_t width = 0);
std::string show_json(const model::Dataset& data, const std::vector<ShownWindow>& parts, bool is_fine);
std::string show_csv(const std::vector<ShownWindow>& parts, bool is_fine);

}  // namespace syscost::bench::commands
