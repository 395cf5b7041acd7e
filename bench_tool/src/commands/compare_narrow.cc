// SPDX-License-Identifier: MIT
//
// compare's table for a terminal that is too narrow for all of it: one line a test, with what decides first.
#include <fmt/format.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "commands/compare.h"
#include "commands/gate.h"
#include "render/table.h"
#include "render/text_width.h"
#include "render/units.h"

namespace syscost::bench::commands {
namespace {

using stats::Comparison;
using stats::Verdict;

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
  return std::string(stats::to_string(row.verdict));
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
