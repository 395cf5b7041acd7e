// SPDX-License-Identifier: MIT
//
// The tables of bench summary: one line for each syscall of a window.
#pragma once

#include "render/table.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {

/// strace -c's columns for the window's working or waiting syscalls; empty where there are none. `seconds` of waits are
/// time blocked. A column `per run` where a syscall of the window has per-run calls.
render::Table syscall_table(const stats::WindowSummary& window, bool waits);

/// The same for a loop: every number is of one call of its body. Times in the kernel come from counted passes and wall
/// time from timed ones, so no share of one in the other is given.
render::Table loop_table(const stats::WindowSummary& loop, bool waits);

}  // namespace syscost::bench::commands
