// SPDX-License-Identifier: MIT
//
// What a window left open, in words (--syscost_leaks).
#pragma once

#include <string>

#include "stats/window_summary.h"

namespace syscost::bench::commands {

/// `2 descriptors, 1 thread`, the most of the repetitions; "" if nothing was left, or if that was not measured.
std::string left_things(const stats::WindowSummary& window);

/// `2 descriptors (5 file /tmp/copy, 7 pipe), 0 threads, 0 children, mappings grew by 8192 bytes`; "" if that was not
/// measured.
std::string left_details(const stats::WindowSummary& window);

/// `left open: 1 descriptor (5 file /tmp/x), in each of 2 repetitions`; "" if nothing was left.
std::string left_remark(const stats::WindowSummary& window);

}  // namespace syscost::bench::commands
