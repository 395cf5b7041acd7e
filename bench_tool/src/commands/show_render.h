// SPDX-License-Identifier: MIT
//
// What show found, rendered: histograms for people, or the same numbers as JSON and CSV.
#pragma once

#include <string>
#include <vector>

#include "model/dataset.h"
#include "render/paint.h"
#include "stats/latency.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {

/// A window that is shown: the test that was named, or one of its loops.
struct ShownWindow {
  stats::WindowSummary window;
  std::vector<stats::SyscallLatency> syscalls;
};

// Of all functions: `parts` is the test, or the loop, that was named, and behind it the loops that ran in it; what
// tools saw of a window stands behind the window. A tool's histogram is one of powers of two, so beside it every other
// is drawn as one, `is_fine` or not.

/// A test that made no such call itself is left out where its loops did. Lines of at most `width` columns, 0: any.
std::string show_text(const std::vector<ShownWindow>& parts, bool is_fine, const render::Paint& paint,
                      std::size_t width = 0);
std::string show_json(const model::Dataset& data, const std::vector<ShownWindow>& parts, bool is_fine);
std::string show_csv(const std::vector<ShownWindow>& parts, bool is_fine);

}  // namespace syscost::bench::commands
