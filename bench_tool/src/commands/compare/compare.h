// SPDX-License-Identifier: MIT
//
// The comparison of two runs, as one table and one exit code: bench compare, and what check, ab, log and report share
// of it.
//
// compare.cc reads and judges the runs; run_again.cc runs their commands again; compare_order.cc chooses the rows;
// compare_words.cc and compare_times.cc say what a row holds; compare_text.cc, compare_ci.cc and compare_machine.cc
// print the formats.
#pragma once

#include <deque>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/options.h"
#include "commands/shared/run_notes.h"
#include "csv/problems.h"
#include "judge/row_times.h"
#include "judge/verdict.h"
#include "model/dataset.h"
#include "model/loader.h"
#include "model/test_locations.h"
#include "render/ci_report.h"
#include "render/terminal.h"
#include "scale/family_laws.h"

namespace syscost::bench::commands {

/// Returns the exit code: 2 before 1 before 3, because a verdict on half-read input is none.
int compare(const cli::Options& asked, const render::Paint& paint, std::ostream& out, std::ostream& err);

/// The result of a comparison.
struct Conclusion {
  int exit_code = cli::kExitOk;
  std::string text;  ///< For people: the word, the exit code, and its reason.

  /// `ok`, `red`, `no answer` or `none`: the first words of the text.
  std::string word() const { return text.substr(0, text.find(',')); }
};

/// Everything the renderers need.
struct CompareResult {
  model::Dataset old_data;
  model::Dataset new_data;
  std::vector<stats::WindowSummary> old_windows;
  std::vector<stats::WindowSummary> new_windows;
  std::deque<stats::WindowSummary> empty_windows;  ///< For set-ups that one side has, without a call.
  std::vector<judge::Comparison> rows;             ///< All, changed or not.
  std::vector<std::string> known_programs;         ///< Names that judge() gives to programs; see programs.h.
  std::string paired;                              ///< `A -> B (one test in each file)`; empty when names decided.
  std::vector<scale::LawChange> law_changes;       ///< For people: no verdict depends on them.
  std::vector<std::string> warnings;
  ProgramFaults lost;        ///< Programs of NEW that crashed and did not in OLD; each has a warning.
  std::string count_rules;   ///< The rules of a file for counts that may vary; see commands/compare/count_rules.h.
  std::string further_runs;  ///< `5 further runs (12.3 s): 2 of 2 tests decided`; of ab its rounds; "" without.
  judge::ComparableTimes comparable;
  cli::Gate gate = {.counts = true};
  model::TestLocations locations;  ///< Where tests are written, from the files that --locations names.
  judge::TimeLimits limits;
  std::string old_backend;  ///< The backend under which the times of OLD were taken; the next is NEW's.
  std::string new_backend;
  std::string sides;  ///< Two lines that say what OLD and NEW are; "" where people did not give them.
  std::string_view command = "compare";
  bool is_of_baseline = false;   ///< OLD is a baseline: it has ranges of counts, and no times are compared.
  std::string budgets;           ///< `limits: 1 exceeded, 2 kept`: the budgets of check; "" without.
  bool exceeds_budgets = false;  ///< One that fails the gate is exceeded.
  bool lacks_budgets = false;    ///< One has no number to judge it by.
  Conclusion conclusion;         ///< Set by report(), from all rows.
  std::size_t failing = 0;  ///< Tests that fail the gate, those that --top leaves out of `rows` too. Set by report().
};

/// How OLD (side 0) or NEW (1) is read.
model::LoadOptions load_options(const cli::Options& options, std::size_t side);

/// Loads both sides, each on a thread of its own.
void load_both(const cli::Options& options, CompareResult& result, csv::Problems& problems);

/// Pairs and judges the tests of `result.old_data` and `new_data`. You may call it again after you loaded more. Returns
/// the reasons why it could not, or nothing.
std::vector<std::string> judge(const cli::Options& options, CompareResult& result);

/// `OLD: the failed attempts of 2 tests are left out, because a later process passed: A, B`; "" if there are none.
std::string left_out_attempts(const std::vector<std::string>& tests, std::string_view side);

/// Adds warnings about what differs between the sides, and about the times that are incomparable for it.
void add_warnings(CompareResult& result);

/// Reads and judges the RUNs of `options`. Adds the rules for counts that a file has to those of `options`. False: it
/// could not, and printed why.
bool compare_both(cli::Options& options, CompareResult& result, csv::Problems& problems, std::ostream& err);

/// `1 program crashed`, if that fails the gate; else "".
std::string lost_programs(const CompareResult& result);

/// Sets `result.conclusion` and `failing`, from all rows.
void conclude(const cli::Options& options, CompareResult& result, const csv::Problems& problems);

/// For machines: leaves out and orders rows as --top and --sort say. Call it after conclude().
void keep_chosen_rows(const cli::Options& options, CompareResult& result);

/// Concludes, prints the comparison and the problems of its input; returns the exit code.
int report(const cli::Options& options, CompareResult& result, const csv::Problems& problems,
           const render::Paint& paint, std::ostream& out, std::ostream& err);

/// Counts per verdict in the order of judge::Verdict, e.g. "1 regressed, 2 improved, 14 same".
std::string verdict_line(const CompareResult& result);
/// The same for the times, a line for each of their clocks; "" when no time was judged.
std::string time_totals(const CompareResult& result);
/// time_totals(), with what a reader must know about the times.
std::string time_notes(const CompareResult& result);
/// The unit of a window's figures: `/iteration` for a benchmark, `/call` for a loop or for a test that says how
/// often its body ran, else "".
std::string_view unit_of(const stats::WindowSummary& window);
/// unit_of(), or "" if the column's title already says `titled_unit` for all rows.
std::string_view unit_beside(const stats::WindowSummary& window, std::string_view titled_unit);
/// One of the two times of a test, with the members in which a row and its windows keep it.
struct TimeKind {
  std::string_view title;
  std::optional<judge::TimeVerdict> judge::Comparison::*verdict;
  stats::Numbers stats::WindowSummary::*numbers;
  bool cli::Gate::*gate;
};
inline constexpr TimeKind kWallTime = {"wall", &judge::Comparison::time, &stats::WindowSummary::wall_ns,
                                       &cli::Gate::wall};
inline constexpr TimeKind kCpuTime = {"cpu", &judge::Comparison::cpu, &stats::WindowSummary::cpu_ns, &cli::Gate::cpu};

/// `90.0 us -> 99.0 us, 10 % slower [+8.4..+12.0 %] (+-1.2 % -> +-0.9 %, n=10, p=0.0002, regressed)`.
std::string time_cell(const judge::Comparison& row, const TimeKind& kind, std::string_view titled_unit);
/// True if processor time deserves a column: it was judged, or it is gated.
bool has_cpu_column(const CompareResult& result, const std::vector<const judge::Comparison*>& shown);
/// Says for each row with several repetitions if more calls or slower calls changed the kernel time. "" if there is no
/// such row.
std::string kernel_split_text(const std::vector<const judge::Comparison*>& shown, bool all, bool markdown,
                              std::size_t width = 0);
/// `1024 -> 1`, with the range where repetitions differ.
std::string calls_cell(const judge::Comparison& row, std::string_view titled_unit);
/// Notes on the numbers of the shown rows, a line each.
std::string number_notes(const CompareResult& result, const std::vector<const judge::Comparison*>& shown);
/// `+1 openat`, `-2 lseek (per run)`, `+1 EACCES (new in openat)`: `more` calls or failures, in the words that an
/// accept takes.
std::string change_of(const judge::Delta& delta, double more);
/// `+1 openat, -2 lseek; +3 ENOENT`.
std::string breakdown(const judge::Comparison& row);
/// The same, and the reason of the verdict.
std::string change_and_reason(const judge::Comparison& row);

/// `law changed: BM_Append/{bytes}: write: 1 per 4096 bytes -> 1 per byte`, a line for each law; the first few if there
/// are many.
std::string law_lines(const CompareResult& result);

/// True for a row that is printed without --all.
bool is_worth_showing(const CompareResult& result, const judge::Comparison& row);

/// The rows that fail the gate, the worst first.
std::vector<const judge::Comparison*> failing_rows(const CompareResult& result);

/// The rows to print, in the order and number that was asked for: changed ones unless `all`.
std::vector<const judge::Comparison*> chosen_rows(const CompareResult& result, const cli::Options& options);

/// A table, and the lines below each of its rows.
struct TableWithBlocks {
  std::string text;
  std::vector<std::string> blocks;
};

/// The table for a screen of `width` columns that the whole one does not fit. If the change of a row does not fit, it
/// stands below the row.
TableWithBlocks narrow_compare_table(const CompareResult& result, const std::vector<const judge::Comparison*>& shown,
                                     const std::vector<std::string>& names, std::string_view unit, std::size_t width,
                                     const render::Paint& paint);

/// The table for people.
std::string compare_text(const CompareResult& result, const cli::Options& options, const render::Paint& paint);
/// For a pull request: what fails, what changed, and the rest folded up, then `below`; at most `most_bytes` bytes.
std::string compare_markdown(const CompareResult& result, bool all, std::size_t most_bytes,
                             const std::string& below = {});
/// For machines: every row, changed or not.
std::string compare_json(const CompareResult& result);
std::string compare_csv(const CompareResult& result);

/// `Log.Writes` as suite and test; of anything else its kind is the suite.
std::pair<std::string_view, std::string_view> ci_names(const judge::Comparison& row);

/// Returns a case for each row. A row that fails the gate is a failure, with the rule that it breaks: counts, wall, ...
render::CiReport compare_ci(const CompareResult& result);

/// A case for each program that crashed or failed outside of its tests.
void add_cases(const ProgramFaults& lost, render::CiReport& report);

/// Chooses the side of the next run; true is NEW. It must be fair, and its next answer unknown to all: the bound on
/// false reds rests on that.
using Coin = std::function<bool()>;
/// By the kernel's random numbers.
bool toss_coin();

/// Runs the commands of `options` again while a count of `result` is open, and sets what they decided. Returns the
/// error, or "".
std::string run_again(const cli::Options& options, CompareResult& result, std::ostream& err,
                      const Coin& coin = toss_coin);

/// Writes a result as the options say: format, report and their sizes.
using WriteResult = std::function<void(const cli::Options& options, std::ostream& out, std::ostream& err)>;

/// Writes the files of --output: one result in several formats, so that what took many runs is not judged once for
/// each. Returns the fault, or "".
std::string write_outputs(const cli::Options& options, const WriteResult& write);

}  // namespace syscost::bench::commands
