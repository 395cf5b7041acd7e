// SPDX-License-Identifier: MIT
//
// Set-ups that made no call: they have no row. Still, their first call is a regression.
#pragma once

#include <deque>
#include <vector>

#include "stats/window_summary.h"

namespace syscost::bench::stats {

/// A set-up that made no call has no row. If its tests ran on `side`, this makes an empty window for it there, as the
/// counterpart of `other`, and keeps it in `made`. Null if `other` is no set-up, or `side` has no such tests.
const WindowSummary* without_calls(const WindowSummary& other, const std::vector<WindowSummary>& side,
                                   std::deque<WindowSummary>& made);

}  // namespace syscost::bench::stats
