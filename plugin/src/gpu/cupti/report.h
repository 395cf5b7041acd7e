// SPDX-License-Identifier: MIT
//
// Figures as what a profiler hands over: times for the CSV, lines for people, a file.
#pragma once

#include <string>
#include <vector>

#include "gpu/cupti/figures.h"
#include "profilers/profiler.h"

namespace syscost::gpu::cupti {

/// At most so many rows for each figure of a window; of more launches, each row holds several.
inline constexpr std::size_t kMostRows = 1000;

/// Of each GPU kernel: duration and launch latency. Of each direction: the copies. And the sums, where no record is
/// missing.
std::vector<profilers::TimeFigure> times_of(const Figures& figures);
/// `1000 add_tree, 2.10 us each, 5.30 us from launch to start (medians)`, line by line.
std::string summary_of(const Figures& figures, const Activity& activity);
std::string json_of(const Figures& figures, const Activity& activity, const std::string& library);

}  // namespace syscost::gpu::cupti
