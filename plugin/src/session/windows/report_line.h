// SPDX-License-Identifier: MIT
//
// The line under a test, and the removal of the framework's own writes from its numbers.
#pragma once

#include <cstdint>
#include <string>

#include "core/cost_data.h"
#include "core/tally.h"

namespace syscost::session {

/// `1024 write, 131 us in the kernel, 94 % of wall`. Time in calls that block by design (%wait) is no work and has
/// its own part: `..., 2 ms waiting`. Under a filter it ends with ` (only %network counted)`.
std::string report_line(const detail::CostData& cost, std::uint64_t wall_ns);

/// `2 write, 1 fsync a call`: the table's counts divided by `calls`; with 3 digits if they do not divide evenly.
std::string breakdown_per_call(const detail::CostData& cost, std::uint64_t calls);

/// A time with three digits at most: "131 us", "1.52 ms".
std::string format_ns(std::uint64_t ns);

/// Removes the framework's own progress output from a window (GoogleTest prints "[ RUN      ]" between a suite's set-up
/// and its first test). It removes writes only if the window has exactly `count` of them: then all are the framework's.
/// If the window also wrote by itself, nothing is removed, because latencies cannot be separated. Adds what it removes
/// to `removed`.
void remove_framework_writes(CallTable& table, int count, CallTable& removed);

/// True if the table has no count.
bool is_empty(const CallTable& table);

}  // namespace syscost::session
