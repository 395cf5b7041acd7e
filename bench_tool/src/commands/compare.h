// SPDX-License-Identifier: MIT
//
// bench compare: what changed between two runs, as one table and one exit code.
#pragma once

#include <deque>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "csv/problems.h"
#include "model/dataset.h"
#include "model/group.h"
#include "model/loader.h"
#include "model/test_locations.h"
#include "render/paint.h"
#include "stats/row_times.h"
#include "stats/scatter.h"
#include "stats/verdict.h"

namespace syscost::bench::commands {

/// Returns the exit code: 2 before 1 before 3, because a verdict on half-read input is none.
int compare(const cli::Options& asked, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// What a comparison comes to.
struct Conclusion {
  int exit_code = cli::kExitOk;
  std::string text;  ///< For people: the word, the exit code, and its reason.
};

/// Everything the renderers need.
struct CompareResult {
  model::Dataset old_data;
  model::Dataset new_data;
  std::vector<stats::WindowSummary> old_windows;
  std::vector<stats::WindowSummary> new_windows;
  std::deque<stats::WindowSummary> empty_windows;  ///< Of set-ups that a side has and made no call in.
  std::vector<stats::Comparison> rows;             ///< All, changed or not.
  std::string paired;                              ///< `A -> B (one test in each file)`; empty when names decided.
  std::vector<std::string> warnings;
  std::vector<stats::ScatteredProgram> scattered;  ///< Each has a warning.
  std::string count_rules;  ///< What a file says of counts that may vary; see commands/count_rules.h.
  stats::ComparableTimes comparable;
  cli::Gate gate = {.counts = true};
  model::TestLocations locations;  ///< Where tests are written; of those that --locations names.
  stats::TimeLimits limits;
  std::string old_backend;  ///< Under which the times of a side were taken.
  std::string new_backend;
  bool names_sides = false;  ///< The sides are files that people gave, so that a header says which.
  Conclusion conclusion;     ///< Set by report(), from all rows.
  std::size_t failing = 0;   ///< Tests that fail the gate, those that --top leaves out of `rows` too. Set by report().
};

/// How OLD (side 0) or NEW (1) is read.
model::LoadOptions load_options(const cli::Options& options, std::size_t side);

/// Loads both sides, each on a thread of its own.
void load_both(const cli::Options& options, CompareResult& result, csv::Problems& problems);

/// Pairs and judges what `result.old_data` and `new_data` hold; may be called again after more was loaded. Returns what
/// keeps it from doing so, or nothing.
std::vector<std::string> judge(const cli::Options& options, CompareResult& result);

/// Judges the counts of tests that were chosen as they are among all tests. Reads all tests where it may matter.
void judge_among_all_tests(const cli::Options& options, CompareResult& result);

/// Program and name of a row's test, the same whatever else a run holds: a name has its program behind it only where
/// several programs of the run have it.
std::string row_key(const stats::Comparison& row);

/// Says what the sides do not have in common, and which times that makes incomparable.
void add_warnings(CompareResult& result);

/// Concludes, prints the comparison and the problems of its input; returns the exit code.
int report(const cli::Options& options, CompareResult& result, const csv::Problems& problems,
           const render::Paint& paint, std::ostream& out, std::ostream& err);

/// Counts per verdict in the order of stats::Verdict, e.g. "1 regressed, 2 improved, 14 same".
std::string verdict_line(const CompareResult& result);
/// The same for the times, a line for each of their clocks; "" when no time was judged.
std::string time_totals(const CompareResult& result);
/// That, with what a reader must know about them.
std::string time_notes(const CompareResult& result);
/// What a window's figures are for one of: `/iteration` of a benchmark, `/call` of a loop or of a test that says how
/// often its body ran, else "".
std::string_view unit_of(const stats::WindowSummary& window);
/// That, where the column's title does not say `titled_unit` for all rows.
std::string_view unit_beside(const stats::WindowSummary& window, std::string_view titled_unit);
/// The two times of a test; where a row and its windows keep what concerns one.
struct TimeKind {
  std::string_view title;
  std::optional<stats::TimeVerdict> stats::Comparison::*verdict;
  stats::Numbers stats::WindowSummary::*numbers;
  bool cli::Gate::*gate;
};
inline constexpr TimeKind kWallTime = {"wall", &stats::Comparison::time, &stats::WindowSummary::wall_ns,
                                       &cli::Gate::wall};
inline constexpr TimeKind kCpuTime = {"cpu", &stats::Comparison::cpu, &stats::WindowSummary::cpu_ns, &cli::Gate::cpu};

/// `90.0 us -> 99.0 us, 10 % slower [+8.4..+12.0 %] (+-1.2 % -> +-0.9 %, n=10, p=0.0002, regressed)`.
std::string time_cell(const stats::Comparison& row, const TimeKind& kind, std::string_view titled_unit);
/// True when processor time has something to say that is worth a column: it was judged, or is gated.
bool has_cpu_column(const CompareResult& result, const std::vector<const stats::Comparison*>& shown);
/// How the kernel time of each row with several repetitions changed: by more calls or by slower ones. "" for none.
std::string kernel_split_text(const std::vector<const stats::Comparison*>& shown, bool all, bool markdown,
                              std::size_t width = 0);
/// `1024 -> 1`, with the range where repetitions differ.
std::string calls_cell(const stats::Comparison& row, std::string_view titled_unit);
/// What to know about the numbers of the rows that are shown, a line each.
std::string number_notes(const CompareResult& result, const std::vector<const stats::Comparison*>& shown);
/// `+1 openat, -2 lseek; +3 ENOENT`.
std::string breakdown(const stats::Comparison& row);

/// Two lines that say what OLD and NEW are; "" where people did not give them.
std::string sides_text(const CompareResult& result);

/// True for a row that is printed without --all.
bool is_worth_showing(const CompareResult& result, const stats::Comparison& row);

/// The rows to print, in the order and number that was asked for: changed ones unless `all`.
std::vector<const stats::Comparison*> chosen_rows(const CompareResult& result, const cli::Options& options);

/// The table for a screen of `width` columns that the whole one does not fit.
std::string narrow_compare_table(const std::vector<const stats::Comparison*>& shown,
                                 const std::vector<std::string>& names, std::string_view unit, const cli::Gate& gate,
                                 std::size_t width, const render::Paint& paint);

/// The table for people.
std::string compare_text(const CompareResult& result, const cli::Options& options, const render::Paint& paint);
/// For a pull request: what fails, what changed, and behind a click the rest; at most so many bytes.
std::string compare_markdown(const CompareResult& result, bool all, std::size_t most_bytes);
/// For machines: every row, changed or not.
std::string compare_json(const CompareResult& result);
std::string compare_csv(const CompareResult& result);

}  // namespace syscost::bench::commands
