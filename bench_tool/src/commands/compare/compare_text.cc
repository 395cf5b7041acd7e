// SPDX-License-Identifier: MIT
//
// compare for people, on a screen: the verdict, a table of the rows that changed, and notes on the numbers.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "commands/compare/causes.h"
#include "commands/compare/compare.h"
#include "commands/shared/gate.h"
#include "commands/shared/site_text.h"
#include "judge/comparability.h"
#include "render/numbers.h"
#include "render/table.h"
#include "render/terminal.h"

namespace syscost::bench::commands {
namespace {

using judge::Comparison;
using judge::Verdict;
using stats::WindowSummary;

/// So many lines of a screen, regardless of the rest.
constexpr std::size_t kFewestRows = 3;

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
    const std::string word = counts_say_more ? std::string(judge::to_string(row.verdict)) + "; " : "";
    const std::string by = fmt::format("{}regressed by {} time", word, fmt::join(failures, " and "));
    return paint.red(text.empty() ? by : text + "  " + by);
  }
  if (!failures.empty() && failures[0] == "crashed") {  // its counts may even be equal
    return paint.red(fmt::format("{}{}crashed: NEW ended its process in it", text, text.empty() ? "" : "  "));
  }
  if (row.verdict == Verdict::improved && row.reason.empty()) return paint.green(text);
  // The verdict of the time stands beside it. The table shows that the counts are equal.
  if (row.verdict == Verdict::same && has_time_change(row) && row.reason.empty()) return text;
  std::string word(judge::to_string(row.verdict));
  if (!row.reason.empty()) word += ": " + row.reason;
  if (!text.empty()) text += "  ";
  if (row.verdict == Verdict::regressed || !failures.empty()) return paint.red(text + word);
  return text + word;
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

/// Returns the notes on the numbers of the table.
std::string notes(const CompareResult& result, const std::vector<const Comparison*>& shown) {
  return time_notes(result).substr(time_totals(result).size()) + number_notes(result, shown);
}

/// Returns the lines above the table: the verdict with its reason, the differences of the two runs, how many tests have
/// which verdict, and the names of the compared files.
std::string heading(const CompareResult& result, const cli::Options& options,
                    const std::vector<const Comparison*>& shown, const render::Paint& paint) {
  const auto block = [&](const std::string& text) { return render::wrapped(text, options.screen.width, 2); };
  std::string out = block("verdict: " + result.conclusion.text + '\n');
  if (result.conclusion.exit_code == cli::kExitRegression) {
    const std::size_t end = out.find('\n');
    out.replace(0, end, paint.red(std::string_view(out).substr(0, end)));
  }
  out += causes_text(causes_of(failing_rows(result), result.gate), options.screen.width);
  for (const std::string& warning : result.warnings) out += paint.yellow(block("warning: " + warning)) + '\n';
  out += block(law_lines(result) + totals(result, shown, options.all) + result.sides);
  if (!result.further_runs.empty()) out += block(result.further_runs + '\n');
  if (!result.count_rules.empty()) out += block(result.count_rules + '\n');
  return result.paired.empty() ? out : out + block("paired: " + result.paired + '\n');
}

std::size_t lines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Returns the lines under a row: the lines of the program that changed.
std::string block_of(const Comparison& row, std::size_t width) {
  return site_block(site_lines(row, kFewSiteLines), width);
}

/// The table, with its blocks.
std::string joined(const TableWithBlocks& table) {
  std::istringstream rows(table.text);
  std::string out;
  std::string line;
  std::getline(rows, line);
  out += line + '\n';
  for (const std::string& block : table.blocks) {
    std::getline(rows, line);
    out += line + '\n' + block;
  }
  return out;
}

/// How many rows fit into `room` lines, with the lines below them; at least `fewest`.
std::size_t rows_that_fit(const std::vector<std::string>& blocks, std::size_t room, std::size_t fewest) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    used += 1 + lines(blocks[i]);
    if (used > room && i >= fewest) return i;
  }
  return blocks.size();
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

/// The rows, each with the change that does not fit into it, and the lines of the program that changed.
TableWithBlocks table_of(const CompareResult& result, const cli::Options& options,
                         const std::vector<const Comparison*>& shown, const render::Paint& paint) {
  const std::size_t width = options.screen.width;
  const std::string_view unit = common_unit(result, options.all);
  std::vector<render::TableColumn> columns = {{"test"}};
  const bool has_wall = !result.is_of_baseline;
  if (has_wall) columns.push_back({fmt::format("wall{}", unit)});
  const bool has_cpu = has_cpu_column(result, shown);
  if (has_cpu) columns.push_back({fmt::format("cpu{}", unit)});
  columns.push_back({fmt::format("calls{}", unit)});
  columns.push_back({""});
  render::Table table(columns);
  const std::vector<std::string> names = judge::shown_names(result.rows, shown);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Comparison& row = *shown[i];
    std::vector<std::string> cells = {names[i]};
    if (has_wall) cells.push_back(time_cell(row, kWallTime, unit));
    if (has_cpu) cells.push_back(time_cell(row, kCpuTime, unit));
    cells.push_back(calls_cell(row, unit));
    cells.push_back(remark(row, result.gate, paint));
    table.add_row(std::move(cells));
  }
  if (table.empty()) return {};
  const bool fits = width == 0 || table.width(2, 4) <= width;
  TableWithBlocks out = fits ? TableWithBlocks{table.text(2, 4), std::vector<std::string>(shown.size())}
                             : narrow_compare_table(result, shown, names, unit, width, paint);
  for (std::size_t i = 0; i < shown.size(); ++i) out.blocks[i] += block_of(*shown[i], width);
  return out;
}

}  // namespace

std::string compare_text(const CompareResult& result, const cli::Options& options, const render::Paint& paint) {
  const std::size_t width = options.screen.width;
  std::vector<const Comparison*> shown = chosen_rows(result, options);
  std::string out = heading(result, options, shown, paint);
  const std::string below = render::wrapped(notes(result, shown), width, 2);
  std::string split = kernel_split_text(shown, options.all, false, width);
  TableWithBlocks table = table_of(result, options, shown, paint);
  if (const std::size_t height = options.screen.height; height != 0 && !options.top) {
    // A blank line, the titles, and the shell's prompt at the end.
    const std::size_t around = lines(out) + lines(below) + 3;
    const std::size_t room = std::max(height, around + kFewestRows) - around;
    if (const std::size_t fit = rows_that_fit(table.blocks, room, kFewestRows); fit < shown.size()) {
      shown.resize(fit);
      const std::size_t lines_before = lines(out);
      out = heading(result, options, shown, paint);
      // The text now names the rows that are left out, which may take one more line.
      table.blocks.resize(fit);
      shown.resize(rows_that_fit(table.blocks, std::max(room + lines_before, lines(out)) - lines(out), kFewestRows));
      out = heading(result, options, shown, paint);
      table = table_of(result, options, shown, paint);
    }
    std::size_t rows = 0;
    for (const std::string& block : table.blocks) rows += 1 + lines(block);
    if (around + rows + lines(split) > height) split.clear();
  }
  return out + (table.blocks.empty() ? "" : '\n' + joined(table)) + below + split;
}

// compare's table for a terminal that is too narrow for all of it: one line a test, with what decides first.

namespace {

/// The start of the long cell: medians and the change. A wider table also shows the rest.
std::string short_wall_cell(const Comparison& row, std::string_view titled_unit) {
  const std::string cell = time_cell(row, kWallTime, titled_unit);
  const std::size_t end = cell.find_first_of("[(");
  std::string text = cell.substr(0, end == std::string::npos ? end : cell.find_last_not_of(' ', end - 1) + 1);
  if (const std::size_t change = text.find(", "); change != std::string::npos) {
    text.erase(0, text.find(" -> ") == std::string::npos ? 0 : text.find(" -> ") + 4);
  }
  return text;
}

std::string verdict_word(const Comparison& row) {
  if (row.verdict == Verdict::same && row.has_time_verdict(Verdict::regressed)) return "time regressed";
  if (row.verdict == Verdict::same && row.has_time_verdict(Verdict::improved)) return "time improved";
  return std::string(judge::to_string(row.verdict));
}

/// The reason, then the change.
std::string explanation(const Comparison& row, std::string_view after_reason) {
  const std::string change = breakdown(row);
  if (row.reason.empty() || change.empty()) return row.reason + change;
  return fmt::format("{}{}{}", row.reason, after_reason, change);
}

std::string verdict_and_change(const Comparison& row, bool has_room) {
  std::string text = verdict_word(row);
  if (!has_room) return text;
  const std::string rest = explanation(row, "  ");
  if (!rest.empty()) text += (row.reason.empty() ? "  " : ": ") + rest;
  return text;
}

std::string painted(const std::string& text, const Comparison& row, const cli::Gate& gate, const render::Paint& paint) {
  if (!gate_failures(row, gate).empty()) return paint.red(text);
  return row.verdict == Verdict::improved ? paint.green(text) : text;
}

/// True if the table cut off the end of the line.
bool is_cut_off(std::string_view line) {
  constexpr std::string_view kDots = "...";
  const std::size_t dots = line.rfind(kDots);
  if (dots == std::string_view::npos) return false;
  const std::string_view rest = line.substr(dots + kDots.size());
  return rest.empty() || rest.front() == '\033';
}

}  // namespace

TableWithBlocks narrow_compare_table(const CompareResult& result, const std::vector<const Comparison*>& shown,
                                     const std::vector<std::string>& names, std::string_view unit, std::size_t width,
                                     const render::Paint& paint) {
  using render::Shrinks;
  std::vector<bool> has_room(shown.size(), true);
  const auto text = [&] {
    const auto text_column = render::Align::left;
    const std::string_view second = result.is_of_baseline ? "calls" : "wall";
    render::Table table({{"test", text_column, render::Cells::names, Shrinks::in_the_middle},
                         {fmt::format("{}{}", second, unit), text_column, render::Cells::text, Shrinks::nowhere},
                         {"verdict and change", text_column, render::Cells::text, Shrinks::at_the_end}});
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const std::string verdict = verdict_and_change(*shown[i], has_room[i]);
      table.add_row({names[i], result.is_of_baseline ? calls_cell(*shown[i], unit) : short_wall_cell(*shown[i], unit),
                     painted(verdict, *shown[i], result.gate, paint)});
    }
    return table.text(2, 2, width);
  };
  TableWithBlocks out{text(), std::vector<std::string>(shown.size())};
  std::istringstream rows(out.text);
  std::string line;
  std::getline(rows, line);
  for (std::size_t i = 0; i < shown.size() && std::getline(rows, line); ++i) {
    // Changes that may be chance are many, and decide nothing.
    if ((shown[i]->verdict == Verdict::near && shown[i]->reason.empty()) || !is_cut_off(line)) continue;
    has_room[i] = false;
    out.blocks[i] = render::wrapped("  " + explanation(*shown[i], "; ") + '\n', width, 2);
  }
  out.text = text();
  return out;
}

}  // namespace syscost::bench::commands
