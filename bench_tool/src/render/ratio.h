// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <string>

namespace syscost::bench::render {

/// How many times as much: three digits without an exponent: `4089`, `12.7`, `0.002`.
inline std::string ratio(double times) {
  return times >= 100 ? fmt::format("{:.0f}", times) : fmt::format("{:.3g}", times);
}

}  // namespace syscost::bench::render
