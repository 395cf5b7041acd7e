// SPDX-License-Identifier: MIT
//
// The picture of a launch: the timeline of its SMs above, the heat map of its warps below.
//
// Each piece draws itself from a top edge downwards and says how high it became.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu_stamps/analysis.h"
#include "gpu_stamps/show_stamps.h"
#include "render/numbers.h"
#include "render/svg.h"

namespace syscost::bench::gpu_stamps {
namespace {

constexpr double kPictureWidth = 960;
constexpr double kLeftMargin = 64;
constexpr double kRightMargin = 24;
constexpr double kDrawnWidth = kPictureWidth - kLeftMargin - kRightMargin;

struct Drawing {
  std::string svg;
  double height = 0;
};

using render::svg_text;
using render::xml_text;

/// From light (0) to dark (1): `#rrggbb`.
std::string shade(double share) {
  // Equal steps of lightness from pale yellow over green to dark blue, told apart without colour vision too.
  static constexpr std::array<std::array<double, 3>, 5> kStops = {
      {{255, 247, 188}, {161, 218, 180}, {65, 182, 196}, {34, 94, 168}, {18, 28, 84}}};
  const double at = std::clamp(share, 0.0, 1.0) * (kStops.size() - 1);
  const auto lower = std::min(static_cast<std::size_t>(at), kStops.size() - 2);
  const double part = at - static_cast<double>(lower);
  std::array<int, 3> rgb{};
  for (std::size_t i = 0; i < 3; ++i) {
    rgb[i] = static_cast<int>(std::lround(kStops[lower][i] + part * (kStops[lower + 1][i] - kStops[lower][i])));
  }
  return fmt::format("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2]);
}

// The heat map: one cell for each thread, 32 of a warp in a row, or for each warp where warps were stamped.

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

/// How late each thread or warp left, or how long it took.
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

// The timeline: what ran on each SM from the launch's first entry to its last exit.

constexpr std::size_t kMostBars = 4000;  // more make a file that no browser likes
constexpr std::size_t kColumns = 400;    // of the timeline of many blocks
constexpr double kHeadHeight = 30;
constexpr double kAxisHeight = 40;

struct Frame {
  double top = 0;
  double row_height = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t span_ns = 1;

  double x(std::uint64_t ns) const {
    return kLeftMargin + kDrawnWidth * static_cast<double>(ns - begin_ns) / static_cast<double>(span_ns);
  }
};

/// For each block a lane of the SM's row that is free when it begins, and how many lanes that makes.
std::pair<std::vector<std::size_t>, std::size_t> lanes_of(const std::vector<gpu::BlockRun>& blocks) {
  std::vector<std::uint64_t> free_from;
  std::vector<std::size_t> lanes;
  for (const gpu::BlockRun& block : blocks) {
    std::size_t lane = 0;
    while (lane < free_from.size() && free_from[lane] > block.time.begin_ns) ++lane;
    if (lane == free_from.size()) free_from.push_back(0);
    free_from[lane] = block.time.end_ns;
    lanes.push_back(lane);
  }
  return {lanes, free_from.size()};
}

std::string bars(const std::vector<gpu::BlockRun>& blocks, const Frame& frame, double top,
                 const std::set<std::uint64_t>& late) {
  const auto [lanes, count] = lanes_of(blocks);
  const double height = frame.row_height / static_cast<double>(count);
  std::string out;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const gpu::BlockRun& block = blocks[i];
    const double left = frame.x(block.time.begin_ns);
    const bool is_late = late.count(block.block) != 0;
    out += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"><title>block {}: {}{}</title>"
        "</rect>\n",
        left, top + height * static_cast<double>(lanes[i]), std::max(0.5, frame.x(block.time.end_ns) - left - 0.5),
        std::max(0.5, height - (height > 3 ? 0.6 : 0.1)), is_late ? "#c8452f" : "#4b7fb5", block.block,
        render::duration(static_cast<double>(block.time.end_ns - block.time.begin_ns)),
        is_late ? ", with a straggler" : "");
  }
  return out;
}

/// How many blocks ran in each column of time, as shades of `most`.
std::string densities(const std::vector<gpu::BlockRun>& blocks, const Frame& frame, double top, std::size_t most) {
  std::vector<std::size_t> running(kColumns);
  const auto column = [&](std::uint64_t ns) {
    const double share = static_cast<double>(ns - frame.begin_ns) / static_cast<double>(frame.span_ns);
    return std::min(kColumns - 1, static_cast<std::size_t>(share * kColumns));
  };
  for (const gpu::BlockRun& block : blocks) {
    for (std::size_t i = column(block.time.begin_ns); i <= column(block.time.end_ns); ++i) ++running[i];
  }
  std::string out;
  const double width = kDrawnWidth / kColumns;
  for (std::size_t i = 0; i < kColumns;) {
    std::size_t end = i;
    while (end < kColumns && running[end] == running[i]) ++end;
    if (running[i] != 0) {
      out += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>\n",
                         kLeftMargin + width * static_cast<double>(i), top, width * static_cast<double>(end - i),
                         frame.row_height * 0.9, shade(static_cast<double>(running[i]) / static_cast<double>(most)));
    }
    i = end;
  }
  return out;
}

std::string axis(const Frame& frame, double bottom) {
  std::string out =
      fmt::format("<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#888888\"/>\n",
                  kLeftMargin, kLeftMargin + kDrawnWidth, bottom + 4);
  for (int i = 0; i <= 4; ++i) {
    const double x = kLeftMargin + kDrawnWidth * i / 4;
    const double ns = static_cast<double>(frame.span_ns) * i / 4;
    out += svg_text(x, bottom + 20, i == 0 ? "0" : render::duration(ns),
                    i == 0 ? "text-anchor=\"start\"" : (i == 4 ? "text-anchor=\"end\"" : "text-anchor=\"middle\""));
  }
  return out;
}

/// A row for each SM, a bar for each block; many blocks are drawn as how many ran at once.
Drawing draw_timeline(const Analysis& analysis, double top) {
  const auto by_sm = gpu::blocks_by_sm(*analysis.launch);
  Drawing drawing;
  drawing.svg = svg_text(16, top + 16, "What ran on each SM", "font-weight=\"600\"");
  if (by_sm.empty() || !analysis.span_ns) {
    drawing.svg += svg_text(16, top + 38, "No timeline: it needs the entry, the exit and the SM of every stamp.",
                            "fill=\"#555555\"");
    drawing.height = 56;
    return drawing;
  }
  std::size_t blocks = 0;
  std::size_t lanes = 1;
  std::uint64_t begin = UINT64_MAX;
  for (const auto& [sm, runs] : by_sm) {
    blocks += runs.size();
    lanes = std::max(lanes, lanes_of(runs).second);
    begin = std::min(begin, runs.front().time.begin_ns);
  }
  const bool has_bars = blocks <= kMostBars;
  std::set<std::uint64_t> late;
  if (analysis.stragglers && !analysis.stragglers->is_by_exit) {
    for (const Straggler& one : analysis.stragglers->units) late.insert(one.unit->block_number.value_or(0));
  }
  const double wanted = has_bars ? std::max(14.0, 7.0 * static_cast<double>(lanes)) : 8;
  Frame frame{top + kHeadHeight, std::min(wanted, std::max(4.0, 1800 / static_cast<double>(by_sm.size()))), begin,
              std::max<std::uint64_t>(1, *analysis.span_ns)};
  drawing.svg +=
      svg_text(170, top + 16,
               has_bars ? "a bar is a block; red: one of its warps is a straggler"
                        : fmt::format("{} blocks: the darker, the more run at once (most: {})", blocks, lanes),
               "fill=\"#555555\"");
  double y = frame.top;
  double labelled_to = y - 100;
  for (const auto& [sm, runs] : by_sm) {
    if (y - labelled_to >= 14) {
      drawing.svg += svg_text(kLeftMargin - 8, y + std::min(frame.row_height, 12.0) - 1, fmt::format("SM {}", sm),
                              "text-anchor=\"end\" font-size=\"11\" fill=\"#555555\"");
      labelled_to = y;
    }
    drawing.svg += has_bars ? bars(runs, frame, y, late) : densities(runs, frame, y, lanes);
    y += frame.row_height + (frame.row_height > 8 ? 4 : 0);
  }
  drawing.svg += axis(frame, y);
  drawing.height = y - top + kAxisHeight;
  return drawing;
}

}  // namespace

std::string stamps_svg(const Analysis& analysis) {
  const gpu::StampedLaunch& launch = *analysis.launch;
  constexpr double kTitleHeight = 52;
  const Drawing timeline = draw_timeline(analysis, kTitleHeight);
  const Drawing heat_map = draw_heat_map(analysis, kTitleHeight + timeline.height);
  const double height = kTitleHeight + timeline.height + heat_map.height;
  std::string subtitle = launch.device.empty() ? "device not recorded" : launch.device;
  if (analysis.resolution_ns) {
    subtitle += fmt::format("; times up to {} are not resolved",
                            render::duration(static_cast<double>(*analysis.resolution_ns)));
  } else {
    subtitle += "; by how much the timer steps is not recorded";
  }
  if (launch.overflowed.value_or(0) > 0) subtitle += fmt::format("; {} stamps are missing", *launch.overflowed);
  std::string out = render::svg_head(kPictureWidth, height);
  out += svg_text(16, 24, name_of(launch), "font-size=\"15\" font-weight=\"600\"");
  out += svg_text(16, 42, subtitle, "fill=\"#555555\"");
  return out + timeline.svg + heat_map.svg + "</svg>\n";
}

}  // namespace syscost::bench::gpu_stamps
