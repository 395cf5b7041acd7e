// SPDX-License-Identifier: MIT
//
// WindowRows: the rows of one window: one of record `test`, then one of record `syscall` for each syscall.
//
// The first has totals and times, the others the numbers of one syscall each. So a sum over a column counts nothing
// twice. A number that the backend did not measure stays empty: never 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>

#include "core/backend.h"
#include "core/cost_data.h"
#include "core/per_run_part.h"
#include "csv/run_columns.h"
#include "csv/tool_rows.h"

namespace syscost::csv {

/// The window's key and the columns of the window as a whole. Times in ns.
struct WindowColumns {
  std::string_view kind;
  std::string_view test;
  std::string_view window;
  std::string_view parent;
  std::uint64_t repetition = 0;
  std::string_view outcome;
  std::optional<std::uint64_t> iterations;
  std::optional<std::uint64_t> counted_iterations;
  std::optional<std::uint64_t> wall_ns;
  std::optional<std::uint64_t> user_ns;
  std::optional<std::uint64_t> system_ns;
  std::optional<std::uint64_t> cpu_ns;  ///< If user and system time are known only together.
  std::optional<std::uint64_t> overhead_estimate_ns;
  std::optional<std::uint64_t> voluntary_switches;
  std::optional<std::uint64_t> involuntary_switches;
  std::optional<std::uint64_t> minor_faults;
  std::optional<std::uint64_t> major_faults;
  std::optional<std::uint64_t> peak_rss_bytes;
  std::optional<std::uint64_t> descriptors_left;
  std::optional<std::uint64_t> threads_left;
  std::optional<std::uint64_t> children_left;
  std::optional<std::uint64_t> mapped_bytes_left;
  std::optional<std::uint64_t> peak_mapped_bytes;
  std::string_view left_open;
  std::string_view excluded;  ///< Column `detail`: the loops inside, which have rows of their own.
  const ChildPerRunParts* per_run_of_children = nullptr;
  const PerRunParts* per_run = nullptr;  ///< Null if per-run calls are not separated.
  bool has_sum_alone = false;            ///< Its syscalls have no rows of their own.
};

class WindowRows {
 public:
  explicit WindowRows(const RunColumns& run);

  /// Appends the row of record `run`, if the run has surroundings.
  void append_run(std::pmr::string& out) const;
  /// The same for a run of tests that begins. `only_test`: its name, if it has one test; else empty.
  void append_begin(std::pmr::string& out, std::string_view only_test) const;
  /// The row that says that the tests came to their end, with the outcome of all of them.
  void append_end(std::pmr::string& out, std::string_view outcome) const;
  /// The row that says how the program's process ended. Returns where the columns after `pid` begin in `out`.
  std::size_t append_exit(std::pmr::string& out, std::string_view how) const;

  /// Appends the window's rows to `out`, and those of kind `process` for its children. `cost` is null if nothing was
  /// counted. Call stacks in `cost` must have been replaced by sites (core/call_site.h). Returns where its outcome
  /// begins in `out`, if it has one.
  std::size_t append(std::pmr::string& out, const WindowColumns& window, const detail::CostData* cost,
                     const Capabilities& capabilities) const;
  /// Appends a tool's rows of the same window. From `window` they take the key, the outcome, the iterations and the
  /// excluded loops, but no times.
  std::size_t append(std::pmr::string& out, const WindowColumns& window, const ToolWindow& tool) const;

 private:
  void append_run_row(std::pmr::string& out, std::string_view window, std::string_view test, std::string_view detail,
                      std::string_view outcome) const;
  void append_children(std::pmr::string& out, const WindowColumns& window, const detail::CostData& cost,
                       const Capabilities& capabilities) const;
  void append_syscalls(std::pmr::string& out, const WindowColumns& window, const CallTable& table,
                       const Capabilities& capabilities) const;

  std::pmr::string run_;  // the columns up to `pid`, the same on every row
  std::string surroundings_;
};

}  // namespace syscost::csv
