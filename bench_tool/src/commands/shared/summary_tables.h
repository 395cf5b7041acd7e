// SPDX-License-Identifier: MIT
//
// The tables of bench summary: which columns they have, and what stands in a cell.
//
// The overview has a line for each test (tests_table) and one for each syscall of all tests (totals_table). The details
// of a test have a line for each of its syscalls (syscall_table, loop_table).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "render/table.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {

/// One window as a line. Numbers are medians of its repetitions; none where not measured.
struct OverviewLine {
  std::string name;
  std::string outcome;  ///< Empty where all repetitions passed.
  bool has_failed = false;
  /// The unit of its numbers: per "call" of a loop's body, per "iteration" of a benchmark; empty: for the whole window.
  std::string_view unit;
  std::optional<double> wall_ns, work_ns, wait_ns, calls, errors;
  bool has_entries = false;  ///< `calls` are entries into the kernel, because calls are not known.
  std::string mostly;        ///< The syscall that took most of its time in the kernel.
};

OverviewLine overview_line(const stats::WindowSummary& window);

/// A syscall over all windows of a run; none where one of them did not measure it.
struct SyscallTotal {
  std::string name;
  bool is_wait = false;
  bool has_calls = false;    ///< Of a window.
  bool has_entries = false;  ///< Of a window that has no calls: `calls` holds them, too.
  std::optional<double> calls = 0, errors = 0, kernel_ns = 0;
  std::map<std::string, double> errnos = {};
};

/// `1.23 us`; `n/a` if not measured.
std::string duration(const std::optional<double>& ns);
/// `94.1`; `n/a` when the whole is 0 or either was not measured.
std::string share(const std::optional<double>& part, const std::optional<double>& whole);

/// A line for each window: all have a unit, or none has; `is_wide` if there is room for every column.
render::Table tests_table(const std::vector<const OverviewLine*>& lines, bool is_wide,
                          const std::function<std::string(const std::string&)>& paint_failure);

/// A line for each syscall, with its share in `whole_ns`.
render::Table totals_table(const std::vector<SyscallTotal>& lines, const std::optional<double>& whole_ns, bool waits);

/// strace -c's columns for the window's working or waiting syscalls; empty where there are none. `seconds` of waits are
/// time blocked. A column `per run` where a syscall of the window has per-run calls.
render::Table syscall_table(const stats::WindowSummary& window, bool waits);

/// The same for a loop: every number is of one call of its body. Times in the kernel come from counted passes and wall
/// time from timed ones, so no share of one in the other is given.
render::Table loop_table(const stats::WindowSummary& loop, bool waits);

}  // namespace syscost::bench::commands
