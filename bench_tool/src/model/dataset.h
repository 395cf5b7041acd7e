// SPDX-License-Identifier: MIT
//
// Dataset: the rows of one RUN argument, in memory.
//
// A CSV repeats everything on every row so that any tool can read it alone. In memory the same facts are kept once:
// a Context per program run, a Sample per window and repetition, and one small SyscallRow per row.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/measured.h"
#include "model/names.h"

namespace syscost::bench::model {

/// Where rows come from: the columns that are the same for all rows of one program's run.
struct Context {
  NameId run_id = kNoName;
  NameId started_at = kNoName;
  NameId label = kNoName;
  NameId host = kNoName;
  NameId kernel = kNoName;
  NameId commit = kNoName;
  NameId build_id = kNoName;
  NameId build_type = kNoName;
  NameId backend = kNoName;
  NameId selection = kNoName;
  NameId filter = kNoName;  ///< The selector of what was counted; kNoName = everything.
  NameId program = kNoName;
  std::uint32_t file = 0;  ///< Index into Dataset::files.
  bool is_plain = false;   ///< Google Benchmark's own JSON: times, no counts, and most of the above unknown.

  bool operator==(const Context&) const = default;
};

/// What a `run` row says: what a program's run found around it.
struct RunFacts {
  std::uint32_t context = 0;
  NameId surroundings = kNoName;  ///< `cpus=2;locale=C`, see docs/csv-format.md.
};

/// What a `test` row says about its window as a whole. Times in ns.
struct Totals {
  NameId outcome = kNoName;
  NameId excludes = kNoName;  ///< `excludes loop flush`: ran inside it and has rows of its own.
  Measured iterations;
  Measured counted_iterations;  ///< Those the counts belong to, where they are not `iterations`.
  Measured wall_ns;
  Measured user_ns;
  Measured system_ns;
  Measured cpu_ns;  ///< Where it is known only as one number: a benchmark's.
  Measured overhead_estimate_ns;
  Measured voluntary_switches;
  Measured involuntary_switches;
  Measured minor_faults;
  Measured major_faults;
  Measured entries;
  Measured calls;
  Measured errors;
  Measured kernel_ns;
  Measured late;
  Measured lost;

  /// Processor time, user and system together, of all threads.
  Measured processor_ns() const {
    if (cpu_ns.has_value() || !user_ns.has_value() || !system_ns.has_value()) return cpu_ns;
    std::uint64_t both = 0;
    const bool is_too_long = __builtin_add_overflow(*user_ns, *system_ns, &both) || both > Measured::kLargest;
    return is_too_long ? Measured() : Measured(both);
  }
};

/// What a `syscall` row says. Times in ns.
struct SyscallRow {
  std::uint32_t sample = 0;
  std::uint32_t file = 0;  ///< Index into Dataset::files.
  std::uint32_t line = 0;
  NameId syscall = kNoName;
  NameId detail = kNoName;
  NameId classes = kNoName;  ///< As in the file: `file;desc`.
  NameId errnos = kNoName;   ///< As in the file: `ENOENT:3 EINTR:1`.
  NameId fixed_errnos = kNoName;
  NameId histogram = kNoName;  ///< As in the file; kept only where LoadOptions asks for it.
  Measured entries;
  Measured calls;
  Measured restarts;
  Measured in_flight;
  Measured no_return;
  Measured carried_in;
  Measured denied;
  Measured errors;
  Measured fixed_calls;   ///< Of `calls`, those of a run of a benchmark's loop whatever its length; where known.
  Measured fixed_errors;  ///< Of `errors`, those of a run of a benchmark's loop whatever its length; where known.
  Measured latency_count;
  Measured latency_sum_ns;
  Measured latency_min_ns;
  Measured latency_max_ns;
};

/// One window in one repetition: its key, its totals, its syscalls.
struct Sample {
  std::uint32_t context = 0;
  std::uint32_t repetition = 0;
  std::uint64_t pid = 0;
  NameId kind = kNoName;
  NameId test = kNoName;
  NameId window = kNoName;
  NameId parent = kNoName;
  NameId origin = kNoName;
  std::uint32_t totals_line = 0;  ///< Line of its `test` row; 0 = there is none, so its numbers may be incomplete.
  std::uint32_t totals_file = 0;  ///< Index into Dataset::files.
  Totals totals;
};

class Dataset {
 public:
  std::string name;                ///< The RUN argument.
  std::vector<std::string> files;  ///< Read for it.
  Names names;
  std::vector<Context> contexts;
  std::vector<RunFacts> runs;
  std::vector<Sample> samples;              ///< In order of first appearance.
  std::vector<SyscallRow> rows;             ///< Ordered by sample after index().
  std::vector<std::string> left_out_tests;  ///< Names of those that LoadOptions::tests did not choose, each once.

  const std::string& text(NameId id) const { return names.text(id); }
  const Context& context(const Sample& sample) const { return contexts[sample.context]; }
  /// Makes names and paths safe for a terminal.
  void make_printable();
  /// Orders the rows by sample (keeping file order within) so that rows_of() works.
  void index();
  std::span<const SyscallRow> rows_of(std::uint32_t sample) const {
    return {rows.data() + row_begin_[sample], row_begin_[sample + 1] - row_begin_[sample]};
  }

 private:
  std::vector<std::size_t> row_begin_;
};

}  // namespace syscost::bench::model
