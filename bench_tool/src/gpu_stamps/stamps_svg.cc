// SPDX-License-Identifier: MIT
//
// The picture of a launch: the timeline of its SMs above, the heat map of its warps below.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gpu_stamps/render_stamps.h"
#include "gpu_stamps/svg.h"
#include "render/units.h"

namespace syscost::bench::gpu_stamps {

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
