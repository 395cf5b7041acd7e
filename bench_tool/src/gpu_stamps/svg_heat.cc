// SPDX-License-Identifier: MIT
//
// The heat map: one cell for each thread, 32 of a warp in a row, or for each warp where warps were stamped.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "gpu_stamps/svg.h"
#include "gpu_stamps/units.h"
#include "render/units.h"

namespace syscost::bench::gpu_stamps {
namespace {

constexpr std::size_t kMostRows = 128;
constexpr std::size_t kUnitColumns = 64;
constexpr double kHeatHeadHeight = 46;

struct Cell {
  std::optional<std::uint64_t> ns;
  std::string title;
};

/// The picture: rows of equally many cells. A row or a cell may stand for several; then it shows the greatest value.
struct Grid {
  std::string caption;
  std::size_t columns = 1;
  std::vector<Cell> cells;
};

/// Takes `value` where it is the greatest of what the cell stands for.
void raise(Cell& cell, std::uint64_t value, const std::string& title) {
  if (cell.ns && *cell.ns >= value) return;
  cell = {value, fmt::format("{}: {}", title, render::duration(static_cast<double>(value)))};
}

std::size_t per_place(std::size_t count, std::size_t most) {
  return std::max<std::size_t>(1, (count + most - 1) / most);
}

Grid grid_of_threads(const Analysis& analysis) {
  const std::size_t warps_in_row = per_place(analysis.units.size(), kMostRows);
  Grid grid;
  grid.columns = gpu::kWarpThreads;
  grid.cells.resize(grid.columns * ((analysis.units.size() + warps_in_row - 1) / warps_in_row));
  for (std::size_t i = 0; i < analysis.units.size(); ++i) {
    const Unit& warp = analysis.units[i];
    for (const gpu::Stamp* stamp : warp.stamps) {
      const gpu::Recorded thread = gpu::thread_number(*analysis.launch, *stamp);
      if (!thread || !stamp->exit_ns || !warp.first_exit_ns) continue;
      raise(grid.cells[i / warps_in_row * grid.columns + *thread % gpu::kWarpThreads],
            *stamp->exit_ns - *warp.first_exit_ns,
            fmt::format("block {}, thread {}", warp.block_number.value_or(0), *thread));
    }
  }
  grid.caption = "How long after the first of its warp each thread exited: a row is a warp, a column a lane";
  if (warps_in_row > 1) grid.caption += fmt::format("; the latest of {} warps in a row", warps_in_row);
  return grid;
}

Grid grid_of_units(const Analysis& analysis) {
  const bool is_by_exit = !analysis.stragglers || analysis.stragglers->is_by_exit;
  gpu::Recorded first_exit;
  for (const Unit& unit : analysis.units) {
    if (unit.exit_ns) first_exit = std::min(first_exit.value_or(*unit.exit_ns), *unit.exit_ns);
  }
  const std::size_t in_cell = per_place(analysis.units.size(), kMostRows * kUnitColumns);
  Grid grid;
  grid.columns = std::min(kUnitColumns, std::max<std::size_t>(1, analysis.units.size()));
  grid.cells.resize((analysis.units.size() + in_cell - 1) / in_cell);
  bool has_times = false;
  for (const Unit& unit : analysis.units) has_times = has_times || unit.took_ns().has_value();
  for (std::size_t i = 0; i < analysis.units.size(); ++i) {
    const Unit& unit = analysis.units[i];
    const gpu::Recorded value = has_times                    ? unit.took_ns()
                                : unit.exit_ns && first_exit ? gpu::Recorded(*unit.exit_ns - *first_exit)
                                                             : std::nullopt;
    if (!value) continue;
    std::string title = fmt::format("block {}", unit.block_number.value_or(0));
    if (unit.warp) title += fmt::format(", warp {}", *unit.warp);
    raise(grid.cells[i / in_cell], *value, title);
  }
  const char* const unit = analysis.launch->level == gpu::Level::block ? "block" : "warp";
  grid.caption = fmt::format("{} each {} {}: {} in a row, by block and warp",
                             has_times || !is_by_exit ? "How long" : "How long after the first", unit,
                             has_times ? "ran" : "exited", grid.columns);
  if (in_cell > 1) grid.caption += fmt::format("; a cell is the longest of {}", in_cell);
  return grid;
}

std::string legend(const Analysis& analysis, double top, std::uint64_t least, std::uint64_t most) {
  constexpr int kSteps = 40;
  constexpr double kWidth = 200;
  constexpr double kLeft = kLeftMargin + 72;
  std::string out;
  const auto text = [&](std::uint64_t ns) {
    if (analysis.is_unresolved(static_cast<double>(ns))) {
      return "<= " + render::duration(static_cast<double>(*analysis.resolution_ns));
    }
    return render::duration(static_cast<double>(ns));
  };
  for (int i = 0; i < kSteps; ++i) {
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"10\" fill=\"{}\"/>\n",
                       kLeft + kWidth * i / kSteps, top, kWidth / kSteps + 0.3, shade(1.0 * i / (kSteps - 1)));
  }
  out += svg_text(kLeft - 8, top + 9, text(least), "text-anchor=\"end\"");
  return out + svg_text(kLeft + kWidth + 8, top + 9, text(most));
}

}  // namespace

Drawing draw_heat_map(const Analysis& analysis, double top) {
  const bool is_of_threads = has_threads(*analysis.launch);
  const Grid grid = is_of_threads ? grid_of_threads(analysis) : grid_of_units(analysis);
  gpu::Range range;
  for (const Cell& cell : grid.cells) {
    if (cell.ns) range.take(*cell.ns);
  }
  Drawing drawing;
  drawing.svg = svg_text(16, top + 16, grid.caption, "font-weight=\"600\"");
  if (range.values == 0) {
    drawing.svg += svg_text(16, top + 38, "No heat map: no warp has a time.", "fill=\"#555555\"");
    drawing.height = 56;
    return drawing;
  }
  // Times that the timer cannot distinguish have one shade.
  const bool is_flat = analysis.is_unresolved(static_cast<double>(range.width()));
  drawing.svg += legend(analysis, top + 26, range.least, range.most);
  const std::size_t rows = (grid.cells.size() + grid.columns - 1) / grid.columns;
  const double width = std::min(24.0, kDrawnWidth / static_cast<double>(grid.columns));
  const double height = rows > 64 ? 6 : rows > 16 ? 10 : 16;
  for (std::size_t i = 0; i < grid.cells.size(); ++i) {
    const Cell& cell = grid.cells[i];
    const std::size_t row = i / grid.columns;
    const double share = is_flat || !cell.ns ? 0
                                             : static_cast<double>(*cell.ns - range.least) /
                                                   static_cast<double>(std::max<std::uint64_t>(1, range.width()));
    drawing.svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"{}<title>{}</title></rect>\n",
        kLeftMargin + width * static_cast<double>(i % grid.columns),
        top + kHeatHeadHeight + height * static_cast<double>(row), width - 0.5, height - 0.5,
        cell.ns ? shade(share) : "none", cell.ns ? ">" : " stroke=\"#dddddd\" stroke-width=\"0.5\">",
        cell.ns ? xml_text(cell.title) : "nothing was stamped");
  }
  drawing.height = kHeatHeadHeight + height * static_cast<double>(rows) + 20;
  return drawing;
}

}  // namespace syscost::bench::gpu_stamps
