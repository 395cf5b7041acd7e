// SPDX-License-Identifier: MIT
//
// Set-ups that made no call: they have no row, and their first call is a regression all the same.
#pragma once

#include <deque>
#include <vector>

#include "stats/window_summary.h"

namespace syscost::bench::stats {

/// A set-up that made no call has no row. Where tests ran after it, `side` has it all the same, with nothing in it:
/// made as the counterpart of `other`, and kept in `made`. Null where it is no set-up, or `side` has no such tests.
const WindowSummary* without_calls(const WindowSummary& other, const std::vector<WindowSummary>& side,
                                   std::deque<WindowSummary>& made);

}  // namespace syscost::bench::stats
