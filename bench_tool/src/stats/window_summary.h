// SPDX-License-Identifier: MIT
//
// WindowSummary: the numbers of one test over its repetitions, as summary shows and compare compares them.
//
// The sample is the repetition: every number is first formed per repetition, then described by a Spread. The rows of a
// counted window name every syscall it made. So a syscall without a row counts 0 in that repetition. A column that some
// repetition did not measure has no Spread. A set-up that made no call has no row at all, and gets an empty summary if
// it is compared.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/dataset.h"
#include "stats/repetitions.h"
#include "syscost/schema.h"

namespace syscost::bench::stats {

/// The figures of a syscall: per repetition, or per iteration on request.
struct CallFigures {
  Numbers calls;
  Numbers entries;
  Numbers errors;
  /// Calls without the failures that only say "too early" (is_too_early()).
  Numbers timely;
  Numbers kernel_ns;
  Numbers latency_count;
  std::optional<ErrnoNumbers> errnos;  ///< nullopt: not measured. An errno that is not in it: 0.
};

/// One syscall (and ioctl request) of a window. If its per-run calls are known, its own figures leave them out.
struct SyscallSummary : CallFigures {
  std::string name;  ///< `write`, `ioctl TCGETS`
  std::string_view classes;
  bool is_wait = false;  ///< Blocks by design: kept apart from work.
  std::optional<CallFigures>
      spread;  ///< With the per-run calls, spread over the iterations; only where they are known.
  // From the file's columns of these names. Per-run bytes are left out where all repetitions tell them apart.
  Numbers bytes;
  Numbers bytes_released;
  Numbers short_calls;
  Numbers altered;        ///< Calls of a repetition that faults answered or changed; never per iteration.
  Numbers per_run_calls;  ///< Made once per run of the loop; nullopt if not known apart.
  Numbers per_run_errors;
  ErrnoNumbers per_run_errnos;
  // Sums over all repetitions; nullopt where not measured.
  std::optional<std::uint64_t> restarts;
  std::optional<std::uint64_t> in_flight;
  std::optional<std::uint64_t> no_return;
  std::optional<std::uint64_t> carried_in;
  std::optional<std::uint64_t> denied;

  /// Calls, or trips into the kernel where the backend sees only those.
  const Numbers& count() const { return calls.has_value() ? calls : entries; }
  const CallFigures& with_per_run() const { return spread ? *spread : *this; }
};

/// The samples by which processor time is judged. Empty if a repetition has none.
struct CpuSamples {
  std::vector<double> times_ns;          ///< One for each repetition, per iteration if wall times are.
  std::vector<double> process_times_ns;  ///< The median of these in each process.
  /// The common divisor of all readings of getrusage()'s clock: its step, or a multiple of it; a microsecond, or a
  /// tick. 0: all are 0. 1: another clock, which counts nanoseconds.
  std::uint64_t step_ns = 0;
  std::uint64_t least_ns = 0;  ///< The smallest reading, for any number of iterations.
};

struct WindowSummary {
  std::string name;
  std::string_view program;             ///< model::Context::program
  std::string_view test;                ///< As in the CSV. For a suite's set-up: the suite; for an environment's: "".
  std::string_view kind;                ///< One of schema::kKinds.
  std::string_view origin;              ///< The counter: syscost, or a tool beside it. A tool changes the times.
  std::string_view loop;                ///< The name of a loop; else empty.
  std::string owner;                    ///< For a loop: the test or set-up that it ran in; empty outside of them.
  bool follows_owner = false;           ///< For a loop: its owner has rows, too, and comes before it.
  std::set<std::string_view> excludes;  ///< `excludes loop flush`: it ran inside, and these numbers leave it out.
  std::size_t n = 0;                    ///< Repetitions.
  std::size_t incomplete = 0;           ///< Repetitions with missing rows: their counts are lower bounds.
  std::size_t uncounted = 0;            ///< Repetitions without any count.
  std::map<std::string_view, std::size_t> outcomes;
  /// Threads other than the one that opened the window made calls, in some repetition. Empty: not measured.
  std::optional<bool> has_other_threads;
  /// In some window of its program has_other_threads is true; see note_threaded_programs().
  bool is_of_threaded_program = false;
  /// Its test opens a file below /proc or /sys: in this window or in another one. See note_kernel_files().
  bool opens_kernel_files = false;
  /// Other tests of its program ran before it on the two sides (model/test_order.h). Set by who compares.
  bool is_reordered = false;
  /// Its program ended before its tests did, so it may lack a tear-down. Set by who compares.
  bool is_of_unfinished_program = false;
  bool was_retried = false;   ///< It failed in a process, and passed in a later one of its run.
  std::size_t processes = 0;  ///< See processes_in_a_run(); 0 also in a baseline.
  /// The selectors of its repetitions; "" = they counted everything. Counts of different selectors are not comparable.
  std::set<std::string_view> filters;
  bool is_per_iteration = false;  ///< Every repetition says how often its body ran, and the numbers are per pass.
  Numbers iterations;
  Numbers counted_passes;  ///< The divisor of the counts in each repetition; nullopt if they were not divided.
  Numbers wall_ns;
  std::vector<double> times_ns;          ///< wall_ns of each repetition; empty where one has none.
  std::vector<double> process_times_ns;  ///< The median of these in each process.
  Numbers cpu_ns;                        ///< Processor time, user and system together.
  CpuSamples cpu;
  bool is_plain = false;  ///< Google Benchmark's own JSON: times, no counts.
  Numbers user_ns;
  Numbers system_ns;
  Numbers overhead_ns;
  Numbers calls;
  Numbers entries;
  Numbers errors;
  Numbers per_run_calls;       ///< Those of all its syscalls; nullopt if one syscall's are not known apart.
  Numbers per_run_work_calls;  ///< Those of them that are not waits.
  Numbers spread_calls;        ///< With the per-run calls, spread over the iterations.
  Numbers spread_entries;
  Numbers work_calls;   ///< Calls (entries where calls are unknown) that are not waits.
  Numbers work_errors;  ///< Failed ones of these.
  Numbers work_ns;      ///< Their kernel time.
  Numbers wait_ns;      ///< Kernel time of calls that block by design.
  // Totals of bytes, with those of per-run calls.
  Numbers bytes_read;
  Numbers bytes_written;
  Numbers bytes_mapped;
  Numbers bytes_unmapped;
  // For the whole window, never per iteration.
  Numbers peak_rss_bytes;
  Numbers descriptors_left;
  Numbers threads_left;
  Numbers children_left;
  Numbers mapped_bytes_left;
  Numbers peak_mapped_bytes;
  LeftByTurn descriptors_by_turn;
  LeftByTurn threads_by_turn;
  LeftByTurn children_by_turn;
  LeftByTurn mapped_bytes_by_turn;
  std::set<std::string_view> unclosed;   ///< The lists of the repetitions that left descriptors open.
  std::optional<std::uint64_t> late;     ///< Sum.
  std::optional<std::uint64_t> lost;     ///< Sum; above 0 every count is a lower bound.
  std::optional<std::uint64_t> altered;  ///< Sum of the calls that faults answered or changed, where that is known.
  std::string altered_by;                ///< Its run's: --syscost_inject. Set by who compares two runs.
  std::vector<SyscallSummary> syscalls;  ///< Most kernel time first, then most calls, then by name.
  /// The part of their opens after which each write is a sync, under the name model::kSyncOpens. nullopt: not known, or
  /// the numbers are per pass.
  std::optional<SyscallSummary> sync_opens;

  /// A test that failed in a repetition, or has no outcome there: its process ended in it.
  bool is_failed_test() const;
  /// What is compared: its syscalls, and sync_opens.
  std::vector<const SyscallSummary*> compared() const;
  /// The syscall of this name among compared(); null if there is none.
  const SyscallSummary* find(std::string_view one) const;

  /// The set-up of a suite or an environment. The first use of everything falls into it.
  bool is_set_up() const { return kind == "suite" || kind == "environment"; }
  /// Its times come from passes that no backend measured.
  bool is_timed_apart() const { return kind == "loop" || kind == "benchmark" || kind == schema::kKindGpuKernel; }
  bool is_ours() const { return origin == schema::kOriginSyscost; }
  /// The passes that the figures were divided by, if they are per pass; else 1.
  double passes() const {
    if (!is_per_iteration) return 1;
    if (iterations) return iterations->median;
    return counted_passes ? counted_passes->median : 1;
  }
  /// Every count is at most what happened: events were lost or late, or rows are missing.
  bool is_lower_bound() const { return lost.value_or(0) > 0 || late.value_or(0) > 0 || incomplete > 0; }
  /// Each repetition was counted, in whole or in part.
  bool is_counted() const { return (calls || entries) && uncounted == 0; }
  bool counted_everything() const { return filters.empty() || (filters.size() == 1 && filters.begin()->empty()); }
};

/// For WindowSummary::sync_opens.
SyscallSummary sync_opens_of(const Spread& opens);

/// True if a syscall of the window has calls that are made once per run of the benchmark's loop.
bool has_per_run_calls(const WindowSummary& window);

/// True if a fault answered or changed a call of the window.
bool has_altered(const WindowSummary& window);

/// `%network`; `none` if everything was counted; `none and %network` if repetitions differ.
std::string filter_text(const WindowSummary& window);

/// Why its counts are lower bounds: `rows are missing`, `events were lost`; "" if they are not.
std::string_view why_lower_bound(const WindowSummary& window);

/// What a window without a row of a syscall says: `no syscalls`, `no calls of %network`, or that nothing is known.
std::string no_calls_text(const WindowSummary& window);

/// The filters of several windows.
class SeenFilters {
 public:
  void add(const WindowSummary& window) {
    if (window.calls || window.entries) texts_.insert(filter_text(window));
  }
  bool is_everything() const { return texts_.empty() || (texts_.size() == 1 && *texts_.begin() == "none"); }
  bool are_several() const { return texts_.size() > 1; }
  /// The filter of all of them; "" if there is none, or if they have several.
  std::string common() const { return texts_.size() == 1 && !is_everything() ? *texts_.begin() : std::string(); }
  /// What figures of their calls are of: `of write`, `under several filters`; "" if everything was counted.
  std::string part() const {
    if (is_everything()) return {};
    return texts_.size() == 1 ? "of " + *texts_.begin() : "under several filters";
  }

 private:
  std::set<std::string> texts_;
};

/// `failed x2, skipped x1`, of one repetition without the number; "" where all passed.
std::string outcome_text(const WindowSummary& window);

/// With `per_iteration` counts and times are divided by the iterations of their repetition, where all have them; so
/// they are, asked or not, for loops and where counts belong to other iterations than times. Views point into `data`.
WindowSummary summarize(const model::Dataset& data, const model::Group& group, bool per_iteration);

/// True if no call of `window` is counted in another one, too: a scope lies in its test, and a loop's figures are of a
/// pass.
inline bool adds_up(const WindowSummary& window) {
  const bool is_whole = window.kind == "test" || window.is_set_up() || window.kind == "process";
  return is_whole && window.is_ours() && !window.is_per_iteration;
}

}  // namespace syscost::bench::stats
