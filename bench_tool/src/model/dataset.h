// SPDX-License-Identifier: MIT
//
// Dataset: the rows of one RUN argument, in memory; Group: all samples of one test among them.
//
// A CSV repeats everything on every row so that any tool can read it alone. In memory the same facts are kept once: a
// Context per program run, a Sample per window and repetition, and some fifteen bytes per `syscall` row.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/row_store.h"

namespace syscost::bench::model {

/// Where rows come from: the columns that are the same for all rows of one program's run.
struct Context {
  NameId run_id = kNoName;
  NameId started_at = kNoName;
  NameId label = kNoName;
  NameId host = kNoName;
  NameId kernel_release = kNoName;
  NameId commit = kNoName;
  NameId build_id = kNoName;
  NameId build_type = kNoName;
  NameId backend = kNoName;
  NameId selection = kNoName;
  NameId filter = kNoName;   ///< The selector of what was counted; kNoName = everything.
  NameId program = kNoName;  ///< Without its folder, so that two builds are one; but see programs.h.
  std::uint32_t file = 0;    ///< Index into Dataset::files.
  bool is_plain = false;     ///< Google Benchmark's own JSON: times, no counts, and most of the above unknown.

  bool operator==(const Context&) const = default;
};

/// Run, host, program, start and process id. A process may have several contexts.
using ProgramKey = std::tuple<NameId, NameId, NameId, NameId, std::uint64_t>;

inline ProgramKey key_of(const Context& context, std::uint64_t pid) {
  return {context.run_id, context.host, context.program, context.started_at, pid};
}

/// The facts of a `run` row: the surroundings of a program's run, whether its tests begin here or have ended, and how
/// its process ended.
struct RunFacts {
  enum class Mark { none, begin, end, exit };

  std::uint32_t context = 0;
  NameId surroundings = kNoName;  ///< `cpus=2;locale=C`, see docs/csv-format.md.
  std::uint64_t pid = 0;
  Mark mark = Mark::none;
  NameId only_test = kNoName;  ///< For `begin`: the test that it runs, if that is one and known.
  NameId outcome = kNoName;    ///< For `end`: the outcome of all tests, with what failed outside of them; kNoName =
                               ///< unknown. For `exit`: `SIGABRT`, `exit code 7`.
};

/// The figures of a `test` row: they describe its whole window. Times in ns.
struct Totals {
  NameId outcome = kNoName;
  NameId excludes = kNoName;  ///< `excludes loop flush`: ran inside it and has rows of its own.
  Measured iterations;
  Measured counted_iterations;  ///< The iterations that were counted, if they are not `iterations`.
  Measured wall_ns;
  Measured user_ns;
  Measured system_ns;
  Measured cpu_ns;  ///< Where it is known only as one number: a benchmark's.
  Measured overhead_estimate_ns;
  Measured entries;
  Measured calls;
  Measured errors;
  Measured kernel_ns;
  Measured peak_rss_bytes;
  Measured bytes_read;
  Measured bytes_written;
  Measured bytes_mapped;
  Measured bytes_unmapped;
  Measured descriptors_left;
  Measured threads_left;
  Measured children_left;
  Measured mapped_bytes_left;
  Measured peak_mapped_bytes;
  NameId unclosed = kNoName;  ///< As in the file: what the window left open.
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

/// Events of a window that are in none of its counts.
struct Losses {
  Measured late;
  Measured lost;
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
  Losses around;  ///< Of a test's or set-up's children: those of the window, among which theirs are.
};

class Dataset {
 public:
  std::string name;                ///< The RUN argument.
  std::vector<std::string> files;  ///< Read for it.
  Names names;
  std::vector<Context> contexts;
  std::vector<RunFacts> runs;
  std::deque<Sample> samples;  ///< In order of first appearance. A deque: a million are not moved.
  RowStore rows;
  /// The rows before fold_sites() added the sites of each syscall up; only where LoadOptions::keep_sites asks for them
  /// and a row names a site.
  RowStore site_rows;
  bool has_sites = false;                   ///< A row names a site; see model/site.h.
  bool keeps_sites = false;                 ///< And site_rows has it.
  std::vector<std::string> left_out_tests;  ///< Names of those that LoadOptions::tests did not choose, each once.
  bool is_partial = false;                  ///< Windows that LoadOptions::test_part cannot mean were left out.

  /// The rows that tell sites apart, if the dataset has them; else rows.
  const RowStore& rows_by_site() const { return keeps_sites ? site_rows : rows; }
  const std::string& text(NameId id) const { return names.text(id); }
  const Context& context(const Sample& sample) const { return contexts[sample.context]; }
  /// Makes names and paths safe for a terminal.
  void make_printable();
  /// Orders the rows by sample (keeping file order within) so that rows_of() works.
  void index() { rows.index(samples.size()); }
  /// Unpacks the rows of a sample.
  std::vector<SyscallRow> rows_of(std::uint32_t sample) const {
    std::vector<SyscallRow> unpacked;
    rows.of(sample, unpacked);
    return unpacked;
  }
};

/// All samples of one test, from all processes and repetitions.
struct Group {
  NameId kind = kNoName;
  NameId test = kNoName;
  NameId window = kNoName;
  NameId parent = kNoName;
  NameId origin = kNoName;
  NameId program = kNoName;  ///< Context::program
  std::vector<std::uint32_t> samples;
  bool is_ambiguous = false;  ///< Another program of the RUN has a window of this name.
  /// For a loop: the index of the test or set-up that it ran in, in the same list. None if that test has no row.
  std::optional<std::size_t> owner;

  bool is_test(const Dataset& data) const { return data.text(kind) == "test"; }
  bool is_loop(const Dataset& data) const { return data.text(kind) == "loop"; }
};

/// True if two groups are of one window; the origin of the counts may differ.
bool is_same_window(const Group& a, const Group& b);

/// Where a tool's rows go if we counted in the same window, too.
enum class Tools { after_ours, left_out };

/// Tests first, then loops, benchmarks and scopes, then suites, environments and processes; in file order within each.
/// If the test of a loop has a row, the loop follows it and is not among the other loops.
/// Rows that another tool counted (column `origin`) form groups of their own: two counts of a thing are never added.
std::vector<Group> group_samples(Dataset& data, Tools tools = Tools::after_ours);

/// The name alone, for people: `Log.Write`, `Log.Write, loop flush`, `suite Log, set-up`, `scope Log.Write, flush`. A
/// `[TOOL]` at the end names the origin. Several programs may have a window of this name.
std::string base_name(const Dataset& data, const Group& group);
/// `Log.Write (log_tests)`: always names one group of a RUN.
std::string full_name(const Dataset& data, const Group& group);
/// Column `kind` as names begin with it: `suite`, `GPU kernel`.
std::string_view kind_words(std::string_view kind);
/// The base name of the window in which the loop ran; "" if there was none.
std::string owner_name(const Dataset& data, const Group& loop);
/// The base name if it is unique, else the full name.
std::string display_name(const Dataset& data, const Group& group);

/// A program without its folder.
std::string_view program_name(std::string_view path);

}  // namespace syscost::bench::model
