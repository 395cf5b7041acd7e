// SPDX-License-Identifier: MIT
//
// compare for people: a table of what changed, the verdicts, and what to know about the times.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <sstream>

#include "commands/compare.h"
#include "commands/gate.h"
#include "commands/site_text.h"
#include "render/table.h"
#include "render/text_width.h"
#include "render/units.h"
#include "stats/pairing.h"

namespace syscost::bench::commands {
namespace {

using stats::Comparison;
using stats::Numbers;
using stats::Verdict;
using stats::WindowSummary;

/// So many lines of a screen, regardless of the rest.
constexpr std::size_t kFewestRows = 3;

bool is_counted_window(const WindowSummary* window) {
  return window != nullptr && (window->calls || window->entries);
}

bool has_time_change(const Comparison& row) {
  return !row.is_plain && (row.has_time_verdict(Verdict::regressed) || row.has_time_verdict(Verdict::improved));
}

/// The last column, which has no title: the change, and the verdict if the numbers do not show it.
std::string remark(const Comparison& row, const cli::Gate& gate, const render::Paint& paint) {
  std::string text = breakdown(row);
  // Below, `regressed` without another word is about counts.
  std::vector<std::string_view> failures = gate_failures(row, gate);
  std::erase(failures, "counts");
  if (!failures.empty() && (failures[0] == "wall" || failures[0] == "cpu")) {
    const bool counts_say_more = row.verdict != Verdict::same && !row.is_plain;
    const std::string word = counts_say_more ? std::string(stats::to_string(row.verdict)) + "; " : "";
    const std::string by = fmt::format("{}regressed by {} time", word, fmt::join(failures, " and "));
    return paint.red(text.empty() ? by : text + "  " + by);
  }
  if (!failures.empty() && failures[0] == "crashed") {  // its counts may even be equal
    return paint.red(fmt::format("{}{}crashed: NEW ended its process in it", text, text.empty() ? "" : "  "));
  }
  if (row.verdict == Verdict::improved) return paint.green(text);
  // The verdict of the time stands beside it. The table shows that the counts are equal.
  if (row.verdict == Verdict::same && has_time_change(row)) return text;
  std::string word(stats::to_string(row.verdict));
  if (!row.reason.empty()) word += ": " + row.reason;
  if (!text.empty()) text += "  ";
  if (row.verdict == Verdict::regressed || !failures.empty()) return paint.red(text + word);
  return text + word;
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

/// The result of the comparison: how many rows have each verdict.
std::string totals(const CompareResult& result, const std::vector<const Comparison*>& shown, bool all) {
  const auto to_show =
      static_cast<std::size_t>(std::count_if(result.rows.begin(), result.rows.end(), [&](const Comparison& row) {
        return all || is_worth_showing(result, row);
      }));
  const std::size_t hidden = result.rows.size() - to_show;
  const std::string counts = verdict_line(result);
  std::string out = counts.empty() ? "" : "counts: " + counts;
  std::string left_out;
  if (to_show > shown.size()) left_out = fmt::format("{} more changed: --top 0", to_show - shown.size());
  if (hidden != 0) left_out += fmt::format("{}{} not shown: --all", left_out.empty() ? "" : "; ", hidden);
  if (!left_out.empty()) out += fmt::format("{}({})", out.empty() ? "" : " ", left_out);
  if (!out.empty()) out += '\n';
  return out + time_totals(result);
}

/// What to know about the numbers of the table.
std::string notes(const CompareResult& result, const std::vector<const Comparison*>& shown) {
  return time_notes(result).substr(time_totals(result).size()) + number_notes(result, shown);
}

/// What stands above the table: the verdict with its reason, what the two runs do not have in common, how many tests
/// have which verdict, and what was compared.
std::string heading(const CompareResult& result, const cli::Options& options,
                    const std::vector<const Comparison*>& shown, const render::Paint& paint) {
  const auto block = [&](const std::string& text) { return render::wrapped(text, options.screen.width, 2); };
  std::string out = block("verdict: " + result.conclusion.text + '\n');
  if (result.conclusion.exit_code == cli::kExitRegression) {
    const std::size_t end = out.find('\n');
    out.replace(0, end, paint.red(std::string_view(out).substr(0, end)));
  }
  for (const std::string& warning : result.warnings) out += paint.yellow(block("warning: " + warning)) + '\n';
  out += block(totals(result, shown, options.all) + sides_text(result));
  if (!result.count_rules.empty()) out += block(result.count_rules + '\n');
  return result.paired.empty() ? out : out + block("paired: " + result.paired + '\n');
}

std::size_t lines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// What stands under a row: which lines of the program changed.
std::string block_of(const Comparison& row, std::size_t width) {
  return site_block(site_lines(row, kFewSiteLines), width);
}

/// The table, with the lines of the program under each row.
std::string with_sites(const std::string& table, const std::vector<const Comparison*>& shown, std::size_t width) {
  std::istringstream rows(table);
  std::string out;
  std::string line;
  std::getline(rows, line);
  out += line + '\n';
  for (const Comparison* row : shown) {
    std::getline(rows, line);
    out += line + '\n' + block_of(*row, width);
  }
  return out;
}

/// How many of `shown` fit into `room` lines; at least `fewest`.
std::size_t fitting(const std::vector<const Comparison*>& shown, std::size_t room, std::size_t fewest,
                    std::size_t width) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    used += 1 + lines(block_of(*shown[i], width));
    if (used > room && i >= fewest) return i;
  }
  return shown.size();
}

/// The unit of all windows in the rows that are shown; empty if they have several units.
std::string_view common_unit(const CompareResult& result, bool all) {
  std::optional<std::string_view> unit;
  for (const Comparison& row : result.rows) {
    if (!all && !is_worth_showing(result, row)) continue;
    for (const WindowSummary* window : {row.old_window, row.new_window}) {
      if (window == nullptr || (!window->wall_ns && !window->calls && !window->entries)) continue;  // prints none
      if (unit.value_or(unit_of(*window)) != unit_of(*window)) return "";  // beside each number then
      unit = unit_of(*window);
    }
  }
  return unit.value_or("");
}

std::string table_of(const CompareResult& result, const cli::Options& options,
                     const std::vector<const Comparison*>& shown, const render::Paint& paint) {
  const std::size_t width = options.screen.width;
  const std::string_view unit = common_unit(result, options.all);
  std::vector<render::TableColumn> columns = {{"test"}, {fmt::format("wall{}", unit)}};
  const bool has_cpu = has_cpu_column(result, shown);
  if (has_cpu) columns.push_back({fmt::format("cpu{}", unit)});
  columns.push_back({fmt::format("calls{}", unit)});
  columns.push_back({""});
  render::Table table(columns);
  const std::vector<std::string> names = stats::shown_names(result.rows, shown);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Comparison& row = *shown[i];
    std::vector<std::string> cells = {names[i], time_cell(row, kWallTime, unit)};
    if (has_cpu) cells.push_back(time_cell(row, kCpuTime, unit));
    cells.push_back(calls_cell(row, unit));
    cells.push_back(remark(row, result.gate, paint));
    table.add_row(std::move(cells));
  }
  if (table.empty()) return {};
  const bool fits = width == 0 || table.width(2, 4) <= width;
  const std::string text =
      fits ? table.text(2, 4) : narrow_compare_table(shown, names, unit, result.gate, width, paint);
  return '\n' + with_sites(text, shown, width);
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
    return render::count(numbers) + std::string(numbers ? unit_beside(*window, titled_unit) : "");
  };
  std::string old_count = count(row.old_window);
  std::string new_count = count(row.new_window);
  const char* unit = row.counts_entries ? " entries" : "";
  if (row.old_window == nullptr) return new_count;
  if (row.new_window == nullptr || old_count == new_count) return old_count + unit;
  return old_count + " -> " + new_count + unit;
}

std::string number_notes(const CompareResult& result, const std::vector<const Comparison*>& shown) {
  std::string out;
  auto is_loop = [](const Comparison* row) {
    return !(row->old_window != nullptr ? row->old_window : row->new_window)->loop.empty();
  };
  const bool has_loop = std::any_of(shown.begin(), shown.end(), is_loop);
  if (!has_loop || !std::all_of(shown.begin(), shown.end(), is_loop)) out += taken_under(result);
  if (has_loop) out += "wall: of loops, taken with nothing attached\n";
  bool has_single = false;
  bool is_benchmark = true;
  for (const Comparison* row : shown) {
    if (!row->is_paired() || is_loop(row) || (row->old_window->n > 1 && row->new_window->n > 1)) continue;
    has_single = true;
    is_benchmark = is_benchmark && row->old_window->kind == "benchmark" && row->new_window->kind == "benchmark";
  }
  if (has_single) {
    out += fmt::format("n=1: one run of a test says little about its time; {} gives medians\n",
                       is_benchmark ? "--benchmark_repetitions=10" : "--gtest_repeat=3");
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

std::string compare_text(const CompareResult& result, const cli::Options& options, const render::Paint& paint) {
  const std::size_t width = options.screen.width;
  std::vector<const Comparison*> shown = chosen_rows(result, options);
  std::string out = heading(result, options, shown, paint);
  const std::string below = render::wrapped(notes(result, shown), width, 2);
  std::string split = kernel_split_text(shown, options.all, false, width);
  if (const std::size_t height = options.screen.height; height != 0 && !options.top) {
    // A blank line, the titles, and the shell's prompt at the end.
    const std::size_t around = lines(out) + lines(below) + 3;
    const std::size_t room = std::max(height, around + kFewestRows) - around;
    if (const std::size_t fit = fitting(shown, room, kFewestRows, width); fit < shown.size()) {
      shown.resize(fit);
      const std::size_t lines_before = lines(out);
      out = heading(result, options, shown, paint);
      // The text now names the rows that are left out, which may take one more line.
      shown.resize(fitting(shown, std::max(room + lines_before, lines(out)) - lines(out), kFewestRows, width));
      out = heading(result, options, shown, paint);
    }
    std::size_t rows = 0;
    for (const Comparison* row : shown) rows += 1 + lines(block_of(*row, width));
    if (around + rows + lines(split) > height) split.clear();
  }
  return out + table_of(result, options, shown, paint) + below + split;
}

std::string breakdown(const Comparison& row) {
  std::string out;
  bool in_errnos = false;
  for (const stats::Delta& delta : row.deltas) {
    const bool is_errno = !delta.errno_name.empty();
    if (!out.empty()) out += is_errno && !in_errnos ? "; " : ", ";
    in_errnos = is_errno;
    const std::string& what = is_errno ? delta.errno_name : delta.syscall;
    if (delta.is_exact()) {
      const double change = delta.new_count.median - delta.old_count.median;
      out += fmt::format("{}{} {}", change > 0 ? '+' : '-', render::count(std::abs(change)), what);
      // It does not decide the verdict, so it must not look like the number that does.
      const bool is_beside = row.verdict != Verdict::near && !delta.is_volatile;
      if (delta.change == stats::Change::near && is_beside) out += " (near)";
    } else {  // a difference of medians would hide what varies
      out += fmt::format("{} {} -> {}", what, render::count(std::optional(delta.old_count)),
                         render::count(std::optional(delta.new_count)));
      if (delta.change == stats::Change::near) out += " (near)";
    }
    if (delta.is_per_run) out += " (per run)";
    if (is_errno && delta.is_new_errno) out += fmt::format(" (new in {})", delta.syscall);
    if (delta.is_volatile) out += " (volatile)";
    if (delta.change == stats::Change::moved) out += " (moved)";
  }
  return out;
}

std::string verdict_line(const CompareResult& result) {
  // Bad news first.
  static constexpr std::array<Verdict, 11> kOrder = {
      Verdict::regressed,    Verdict::errored, Verdict::inconclusive, Verdict::insufficient,
      Verdict::incomparable, Verdict::missing, Verdict::added,        Verdict::improved,
      Verdict::near,         Verdict::moved,   Verdict::same};
  std::string out;
  for (Verdict verdict : kOrder) {
    const auto times = std::count_if(result.rows.begin(), result.rows.end(),
                                     [&](const Comparison& row) { return !row.is_plain && row.verdict == verdict; });
    if (times != 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", times, stats::to_string(verdict));
  }
  return out;
}

}  // namespace syscost::bench::commands
