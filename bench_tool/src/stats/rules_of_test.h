// SPDX-License-Identifier: MIT
//
// Which rules of a project's file are for a test.
#pragma once

#include "model/test_patterns.h"
#include "stats/count_policy.h"
#include "stats/window_summary.h"

namespace syscost::bench::stats {

/// What patterns of tests are matched with. Views point into `window`.
model::PatternName pattern_name(const WindowSummary& window);

/// The rules for this test, which may have another name on each side; either may be null.
CountPolicy rules_of(const CountPolicy& policy, const WindowSummary* old_window, const WindowSummary* new_window);

}  // namespace syscost::bench::stats
