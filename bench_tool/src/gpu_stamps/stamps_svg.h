// SPDX-License-Identifier: MIT
//
// The picture of a launch: the timeline of its SMs above, the heat map of its warps below.
//
// Each piece draws itself from a top edge downwards and says how high it became.
#pragma once

#include <string>
#include <string_view>

#include "gpu_stamps/analysis.h"
#include "render/svg.h"

namespace syscost::bench::gpu_stamps {

inline constexpr double kPictureWidth = 960;
inline constexpr double kLeftMargin = 64;
inline constexpr double kRightMargin = 24;
inline constexpr double kDrawnWidth = kPictureWidth - kLeftMargin - kRightMargin;

struct Drawing {
  std::string svg;
  double height = 0;
};

using render::svg_text;
using render::xml_text;

/// From light (0) to dark (1): `#rrggbb`.
std::string shade(double share);

/// A row for each SM, a bar for each block; many blocks are drawn as how many ran at once.
Drawing draw_timeline(const Analysis& analysis, double top);

/// A cell for each thread or warp: how late it left, or how long it took.
Drawing draw_heat_map(const Analysis& analysis, double top);

}  // namespace syscost::bench::gpu_stamps
