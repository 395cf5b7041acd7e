// SPDX-License-Identifier: MIT
//
// The line under a test, and what must be taken out of its numbers first.
#pragma once

#include <cstdint>
#include <string>

#include "core/cost_data.h"
#include "core/tally.h"

namespace syscost::session {

/// `1024 write, 131 us in the kernel, 94 % of wall`. Time in calls that block by design (%wait) is no work and stands
/// apart: `..., 2 ms waiting`. Under a filter it ends with ` (only %network counted)`.
std::string report_line(const detail::CostData& cost, std::uint64_t wall_ns);

/// `2 write, 1 fsync a call`: the table's counts for each of `calls` calls; 3 digits where they do not divide evenly.
std::string breakdown_per_call(const detail::CostData& cost, std::uint64_t calls);

/// A time with three digits at most: "131 us", "1.52 ms".
std::string format_ns(std::uint64_t ns);

/// Takes the framework's own progress output out of a window into which it falls (GoogleTest prints "[ RUN      ]"
/// between a suite's set-up and its first test). Possible exactly when the window's writes are all the framework's,
/// that is `count` of them; a latency cannot be split, so in a window that also wrote by itself nothing is taken out.
void remove_framework_writes(CallTable& table, int count);

/// True when nothing was counted.
bool is_empty(const CallTable& table);

}  // namespace syscost::session
