// SPDX-License-Identifier: MIT
//
// The history of a test over runs: its calls and its wall time in each, and where they changed.
#pragma once

#include <string>
#include <vector>

#include "report/run.h"

namespace syscost::bench::report {

/// The charts of one test and its steps; empty if there are fewer than two runs.
std::string history_chart(const std::vector<HistoryPoint>& points);

/// All tests together: the sums of each run, and the tests that changed.
std::string history_section(const Run& run);

}  // namespace syscost::bench::report
