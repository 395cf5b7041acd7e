// SPDX-License-Identifier: MIT
//
// compare's table for a terminal that is too narrow for all of it: one line a test, with what decides first.
#include <fmt/format.h>

#include "commands/compare.h"
#include "commands/gate.h"
#include "render/table.h"
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

std::string verdict_and_change(const Comparison& row, const cli::Gate& gate, const render::Paint& paint) {
  std::string word(stats::to_string(row.verdict));
  if (row.verdict == Verdict::same && row.has_time_verdict(Verdict::regressed)) word = "time regressed";
  if (row.verdict == Verdict::same && row.has_time_verdict(Verdict::improved)) word = "time improved";
  if (!row.reason.empty()) word += ": " + row.reason;
  const std::string change = breakdown(row);
  const std::string text = change.empty() ? word : word + "  " + change;
  if (!gate_failures(row, gate).empty()) return paint.red(text);
  return row.verdict == Verdict::improved ? paint.green(text) : text;
}

}  // namespace

std::string narrow_compare_table(const std::vector<const Comparison*>& shown, const std::vector<std::string>& names,
                                 std::string_view unit, const cli::Gate& gate, std::size_t width,
                                 const render::Paint& paint) {
  using render::Shrinks;
  const auto text_column = render::Align::left;
  render::Table table({{"test", text_column, render::Cells::names, Shrinks::in_the_middle},
                       {fmt::format("wall{}", unit), text_column, render::Cells::text, Shrinks::nowhere},
                       {"verdict and change", text_column, render::Cells::text, Shrinks::at_the_end}});
  for (std::size_t i = 0; i < shown.size(); ++i) {
    table.add_row({names[i], short_wall_cell(*shown[i], unit), verdict_and_change(*shown[i], gate, paint)});
  }
  return table.text(2, 2, width);
}

}  // namespace syscost::bench::commands
