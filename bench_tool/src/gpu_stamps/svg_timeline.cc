// SPDX-License-Identifier: MIT
//
// The timeline: what ran on each SM from the launch's first entry to its last exit.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "gpu_stamps/svg.h"
#include "render/units.h"

namespace syscost::bench::gpu_stamps {
namespace {

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

}  // namespace

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

}  // namespace syscost::bench::gpu_stamps
