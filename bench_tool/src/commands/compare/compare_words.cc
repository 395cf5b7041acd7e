// SPDX-License-Identifier: MIT
//
// The words that compare prints in every format for people: numbers, notes and warnings.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/compare/compare.h"
#include "commands/shared/run_notes.h"
#include "model/programs.h"
#include "render/numbers.h"
#include "stats/repetitions.h"

namespace syscost::bench::commands {

namespace {

using judge::Comparison;
using judge::Verdict;
using stats::Numbers;
using stats::WindowSummary;

bool is_counted_window(const WindowSummary* window) {
  return window != nullptr && (window->calls || window->entries);
}

/// `7.3 %`: how much of the wall time of a side's tests measuring added by the CSV's own estimates; nullopt where a
/// test has none, or nothing was measured while it was timed.
std::optional<std::string> added_share(const std::vector<WindowSummary>& windows) {
  double overhead_ns = 0;
  double wall_ns = 0;
  for (const WindowSummary& window : windows) {
    if (window.is_set_up() || window.is_timed_apart()) continue;
    if (!window.wall_ns || !window.overhead_ns) return std::nullopt;
    const double passes = window.passes();
    overhead_ns += window.overhead_ns->median * passes;
    wall_ns += window.wall_ns->median * passes;
  }
  if (wall_ns <= 0) return std::nullopt;
  return fmt::format("{:.1f} %", 100 * overhead_ns / wall_ns);
}

/// GoogleTest's names are `Suite.Test` without blanks. Those of Catch2 and doctest are sentences, mostly.
bool may_be_googletest(const WindowSummary& window) {
  return window.test.find(' ') == std::string_view::npos &&
         (window.kind != "test" || window.test.find('.') != std::string_view::npos);
}

bool is_all_timed_apart(const std::vector<WindowSummary>& windows) {
  return std::all_of(windows.begin(), windows.end(), [](const WindowSummary& one) { return one.is_timed_apart(); });
}

/// Under which conditions the wall times were taken, if they differ from those of an unmeasured run: a line, or "".
std::string taken_under(const CompareResult& result) {
  if (is_all_timed_apart(result.old_windows) || is_all_timed_apart(result.new_windows)) return {};
  const auto old_share = added_share(result.old_windows);
  const auto new_share = added_share(result.new_windows);
  const std::string text = fmt::format(
      "wall: taken under {}", result.old_backend == result.new_backend
                                  ? result.old_backend
                                  : fmt::format("{} in OLD and {} in NEW", result.old_backend, result.new_backend));
  if (!old_share || !new_share) return text + "; what measuring added was not estimated for all of it\n";
  return fmt::format("{}; measuring added about {} of OLD's and {} of NEW's (estimated)\n", text, *old_share,
                     *new_share);
}

const std::string& counted_name(const judge::Delta& delta) {
  return delta.errno_name.empty() ? delta.syscall : delta.errno_name;
}

std::string marks_of(const judge::Delta& delta) {
  std::string marks = delta.is_per_run ? " (per run)" : "";
  if (delta.is_new_errno && !delta.errno_name.empty()) marks += fmt::format(" (new in {})", delta.syscall);
  return marks;
}

}  // namespace

std::string calls_cell(const Comparison& row, std::string_view titled_unit) {
  auto count = [&](const WindowSummary* window) {
    if (window == nullptr) return std::string();
    const bool is_entries = row.counts_entries || !window->calls;
    // If one side does not separate per-run calls, those of the other side are spread over the iterations too.
    const bool spreads = is_counted_window(row.old_window) && is_counted_window(row.new_window) && !row.tells_per_run;
    const Numbers& numbers = is_entries ? (spreads ? window->spread_entries : window->entries)
                                        : (spreads ? window->spread_calls : window->calls);
    // Calls of one side and entries of the other are no pair.
    const bool is_other = is_entries && !row.counts_entries && numbers;
    return render::count(numbers) + std::string(numbers ? unit_beside(*window, titled_unit) : "") +
           (is_other ? " entries" : "");
  };
  std::string old_count = count(row.old_window);
  std::string new_count = count(row.new_window);
  const char* unit = row.counts_entries ? " entries" : "";
  if (row.old_window == nullptr) return new_count;
  if (row.new_window == nullptr || old_count == new_count) return old_count + unit;
  return old_count + " -> " + new_count + unit;
}

std::string number_notes(const CompareResult& result, const std::vector<const Comparison*>& shown) {
  if (result.is_of_baseline) return {};
  std::string out;
  auto is_loop = [](const Comparison* row) {
    return !(row->old_window != nullptr ? row->old_window : row->new_window)->loop.empty();
  };
  const bool has_loop = std::any_of(shown.begin(), shown.end(), is_loop);
  if (!has_loop || !std::all_of(shown.begin(), shown.end(), is_loop)) out += taken_under(result);
  if (has_loop) out += "wall: of loops, taken with nothing attached\n";
  bool has_single = false;
  bool is_benchmark = true;
  bool is_googletest = true;
  for (const Comparison* row : shown) {
    if (!row->is_paired() || is_loop(row) || (row->old_window->n > 1 && row->new_window->n > 1)) continue;
    has_single = true;
    is_benchmark = is_benchmark && row->old_window->kind == "benchmark" && row->new_window->kind == "benchmark";
    is_googletest = is_googletest && may_be_googletest(*row->new_window);
  }
  if (has_single) {
    out += fmt::format("n=1: one run of a test says little about its time; {} gives medians\n",
                       is_benchmark    ? "--benchmark_repetitions=10"
                       : is_googletest ? "--gtest_repeat=3"
                                       : "repeating the program under one SYSCOST_RUN_ID");
  }
  return out;
}

std::string law_lines(const CompareResult& result) {
  constexpr std::size_t kMostLines = 10;
  std::string out;
  for (std::size_t i = 0; i < std::min(result.law_changes.size(), kMostLines); ++i) {
    const scale::LawChange& change = result.law_changes[i];
    out += fmt::format("law changed: {}: {}\n", change.family, scale::text_of(change));
  }
  if (result.law_changes.size() > kMostLines) {
    out += fmt::format("law changed: {} more; --format json has all\n", result.law_changes.size() - kMostLines);
  }
  return out;
}

std::string_view unit_of(const WindowSummary& window) {
  if (!window.is_per_iteration) return "";
  // Processes have figures per pass below a benchmark only.
  return window.kind == "benchmark" || window.kind == "process" ? "/iteration" : "/call";
}

std::string_view unit_beside(const WindowSummary& window, std::string_view titled_unit) {
  return titled_unit.empty() ? unit_of(window) : "";
}

std::string change_of(const judge::Delta& delta, double more) {
  return fmt::format("{}{} {}{}", more > 0 ? '+' : '-', render::count(std::abs(more)), counted_name(delta),
                     marks_of(delta));
}

std::string breakdown(const Comparison& row) {
  std::string out;
  bool in_errnos = false;
  for (const judge::Delta& delta : row.deltas) {
    const bool is_errno = !delta.errno_name.empty();
    if (!out.empty()) out += is_errno && !in_errnos ? "; " : ", ";
    in_errnos = is_errno;
    if (delta.is_exact()) {
      out += change_of(delta, delta.new_count.median - delta.old_count.median);
    } else {  // a difference of medians would hide what varies
      out += fmt::format("{} {} -> {}{}", counted_name(delta), render::count(std::optional(delta.old_count)),
                         render::count(std::optional(delta.new_count)), marks_of(delta));
    }
    // Where it does not decide the verdict, it must not look like the number that does.
    const bool is_beside = !delta.is_exact() || (row.verdict != Verdict::near && !delta.is_volatile);
    if (delta.change == judge::Change::near && is_beside) out += " (near)";
    if (stats::is_too_early(delta.syscall, delta.errno_name)) {
      out += " (too early)";
    } else if (delta.is_volatile) {
      out += " (volatile)";
    } else if (delta.is_accepted && row.needs_acceptance && row.verdict != Verdict::accepted) {
      out += " (accepted)";
    }
  }
  return out;
}

std::string change_and_reason(const Comparison& row) {
  const std::string change = breakdown(row);
  return change + (change.empty() || row.reason.empty() ? "" : "; ") + row.reason;
}

std::string verdict_line(const CompareResult& result) {
  // Bad news first.
  static constexpr std::array<Verdict, 13> kOrder = {
      Verdict::regressed,    Verdict::errored, Verdict::in_doubt, Verdict::inconclusive, Verdict::insufficient,
      Verdict::incomparable, Verdict::missing, Verdict::added,    Verdict::accepted,     Verdict::improved,
      Verdict::exchanged,    Verdict::near,    Verdict::same};
  std::string out;
  for (Verdict verdict : kOrder) {
    const auto times = std::count_if(result.rows.begin(), result.rows.end(),
                                     [&](const Comparison& row) { return !row.is_plain && row.verdict == verdict; });
    if (times != 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", times, judge::to_string(verdict));
  }
  return out;
}

// Warnings about the differences of two runs. They stand before the numbers.

namespace {

bool is_plain(const model::Dataset& data) {
  return std::all_of(data.samples.begin(), data.samples.end(),
                     [&](const model::Sample& sample) { return data.context(sample).is_plain; });
}

bool has_windows_timed_apart(const std::vector<WindowSummary>& windows) {
  return std::any_of(windows.begin(), windows.end(), [](const WindowSummary& one) { return one.is_timed_apart(); });
}

}  // namespace

void add_warnings(CompareResult& result) {
  result.warnings.clear();
  for (const std::string& line : crash_lines(result.old_data)) result.warnings.push_back("OLD: " + line);
  result.lost = program_faults(result.new_data, &result.old_data);
  std::vector<std::string> of_new = crash_lines(result.new_data);
  if (result.lost.crashed + result.lost.failed_outside != 0) of_new = result.lost.sentences;
  for (const std::string& line : of_new) result.warnings.push_back("NEW: " + line);
  result.comparable = {};
  result.old_backend = model::values_of(result.old_data, &model::Context::backend);
  result.new_backend = model::values_of(result.new_data, &model::Context::backend);
  enum class Spoils { nothing, measured_times, all_times };
  struct Check {
    const char* what;
    model::NameId model::Context::*field;
    const char* consequence;
    Spoils spoils;
    const char* if_empty = "?";
  };
  static constexpr std::array<Check, 6> kChecks = {{
      {"backend", &model::Context::backend,
       "times are not comparable; `auto` takes another one if the rights of a run change, --syscost_backend NAME keeps "
       "one",
       Spoils::measured_times},
      {"build type", &model::Context::build_type, "times are not comparable", Spoils::all_times},
      {"host", &model::Context::host, "times come from two machines", Spoils::nothing},
      {"kernel release", &model::Context::kernel_release, "times and counts may differ for that reason alone",
       Spoils::nothing},
      {"selection", &model::Context::selection, "the calls of a library's first use may fall into other tests",
       Spoils::nothing},
      {"filter", &model::Context::filter, "other syscalls were counted; neither counts nor times are comparable",
       Spoils::measured_times, "none"},
  }};
  const bool has_plain = is_plain(result.old_data) || is_plain(result.new_data);
  const bool has_apart = has_windows_timed_apart(result.old_windows) && has_windows_timed_apart(result.new_windows);
  for (const Check& check : kChecks) {
    const std::string old_value = model::values_of(result.old_data, check.field);
    const std::string new_value = model::values_of(result.new_data, check.field);
    if (old_value == new_value) continue;
    // A file of Google Benchmark has the host, and none of the other facts.
    if (has_plain && (old_value.empty() || new_value.empty())) continue;
    const bool spares_apart = has_apart && check.spoils == Spoils::measured_times;
    result.warnings.push_back(fmt::format("{} differs ({} -> {}): {}{}", check.what,
                                          old_value.empty() ? check.if_empty : old_value,
                                          new_value.empty() ? check.if_empty : new_value, check.consequence,
                                          spares_apart ? ", but for those of loops and benchmarks" : ""));
    if (check.spoils != Spoils::nothing) result.comparable.measured = false;
    if (check.spoils == Spoils::all_times) result.comparable.unmeasured = false;
  }
  for (std::string& line : surroundings_lines(result.old_data, result.new_data)) {
    result.warnings.push_back(std::move(line));
  }
}

}  // namespace syscost::bench::commands
