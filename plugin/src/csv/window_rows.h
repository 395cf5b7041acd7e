// SPDX-License-Identifier: MIT
//
// The rows of a window: the columns of its run, its syscalls, and the rows of tools beside us.
//
// A window has one row of record `test`, then one of record `syscall` for each syscall. The first has totals and times,
// the others the numbers of one syscall each. So a sum over a column counts nothing twice. A number that the backend
// did not measure stays empty: never 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/backend.h"
#include "core/cost_data.h"
#include "core/per_run_part.h"
#include "core/syscall_id.h"
#include "syscost/schema.h"

namespace syscost::csv {

/// The columns that are the same on every row of one program's run, by their names in docs/csv-format.md. Empty =
/// unknown.
struct RunColumns {
  std::string run_id;
  std::string started_at;
  std::string label;
  std::string host;
  std::string kernel_release;
  std::string commit;
  std::string why_no_commit;  ///< No column: why `commit` is empty although there is a repository.
  std::string build_id;
  std::string build_type;
  std::string backend;
  std::string selection;
  std::string filter;  ///< --syscost_filter as given; empty = everything is counted.
  std::string program;
  std::uint64_t pid = 0;
  std::string shard;  ///< "2 of 4" where the framework runs a part of the tests only; written with `surroundings`.
  std::string surroundings;  ///< Column `detail` of the run's own row: `cpus=2;locale=C`. Empty: there is no such row.
};

// The rows of a tool beside us for a window: the same key as our rows, with another origin.
//
// A tool counts trips into the kernel and, for those that returned, latencies in powers of two. Other columns stay
// empty: percentiles, because a factor of two is too coarse, and the window's times, because they include the tool's.

/// Columns of one `syscall` row. Empty = the tool has no such number.
struct ToolSyscall {
  SyscallId id;
  std::optional<std::uint64_t> entries;
  std::optional<std::uint64_t> errors;
  std::string errnos;  ///< `ENOENT:3 EINTR:1`
  std::optional<std::uint64_t> latency_count;
  std::optional<std::uint64_t> latency_sum_ns;
  std::optional<std::uint64_t> latency_min_ns;
  std::optional<std::uint64_t> latency_max_ns;
  std::string histogram;  ///< `512:128 1024:3`
};

struct ToolWindow {
  std::string origin;  ///< The tool's name.
  std::uint64_t lost = 0;
  std::vector<ToolSyscall> syscalls;
};

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
  /// The columns that observers of windows add, in the order of the columns, which come after the totals.
  std::vector<std::pair<schema::Column, std::string>> added;
  std::string_view excluded;  ///< Column `detail`: the loops inside, which have rows of their own.
  const ProgramPerRunParts* per_run_of_programs = nullptr;
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
  /// counted. Origins of calls in `cost` must have been replaced by sites (core/site_names.h). Returns where
  /// its outcome begins in `out`, if it has one.
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
