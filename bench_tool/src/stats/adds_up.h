// SPDX-License-Identifier: MIT
//
// Which windows of a run may be added up.
#pragma once

#include "stats/window_summary.h"

namespace syscost::bench::stats {

/// True if no call of `window` is counted in another one, too: a scope lies in its test, and a loop's figures are of a
/// pass.
inline bool adds_up(const WindowSummary& window) {
  const bool is_whole = window.kind == "test" || window.is_set_up() || window.kind == "process";
  return is_whole && window.is_ours() && !window.is_per_iteration;
}

}  // namespace syscost::bench::stats
