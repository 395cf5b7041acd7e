// SPDX-License-Identifier: MIT
//
// WindowRows: the rows of one window: one of record `test`, then one of record `syscall` for each syscall.
//
// Totals and times stand on the first, what belongs to one syscall on the others, so that summing a column never counts
// a thing twice. What the backend did not measure stays empty: never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/backend.h"
#include "core/cost_data.h"
#include "core/per_run_part.h"
#include "csv/run_columns.h"
#include "csv/tool_rows.h"

namespace syscost::csv {

/// The window's key and what belongs to it as a whole. Times in ns.
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
  std::optional<std::uint64_t> cpu_ns;  ///< Where both are known only together.
  std::optional<std::uint64_t> overhead_estimate_ns;
  std::optional<std::uint64_t> voluntary_switches;
  std::optional<std::uint64_t> involuntary_switches;
  std::optional<std::uint64_t> minor_faults;
  std::optional<std::uint64_t> major_faults;
  std::string_view excluded;  ///< Column `detail`: the loops inside, which have rows of their own.
  const ChildPerRunParts* per_run_of_children = nullptr;
  const PerRunParts* per_run = nullptr;  ///< Null where per-run calls are told apart nowhere.
};

class WindowRows {
 public:
  explicit WindowRows(const RunColumns& run);

  /// Appends the row of record `run`, if there is something to say about the run's surroundings.
  void append_run(std::string& out) const;

  /// Appends the window's rows to `out`, and those of kind `process` for its children. `cost` is null when nothing was
  /// counted.
  void append(std::string& out, const WindowColumns& window, const detail::CostData* cost,
              const Capabilities& capabilities) const;
  /// Appends what a tool said of the same window. Of `window` only the key and what it ran count: no times.
  void append(std::string& out, const WindowColumns& window, const ToolWindow& tool) const;

 private:
  void append_children(std::string& out, const WindowColumns& window, const detail::CostData& cost,
                       const Capabilities& capabilities) const;
  void append_syscalls(std::string& out, const WindowColumns& window, const CallTable& table,
                       const Capabilities& capabilities) const;

  std::string run_;  // the columns up to `pid`, the same on every row
  std::string surroundings_;
};

}  // namespace syscost::csv
