// SPDX-License-Identifier: MIT
//
// The figures of stamps as text for people, or as the same numbers for machines.
#pragma once

#include <string>
#include <vector>

#include "gpu_stamps/analysis.h"
#include "render/paint.h"

namespace syscost::bench::gpu_stamps {

/// `Sum.Tree, GPU kernel sum_tree, launch 0`
std::string name_of(const gpu::StampedLaunch& launch);

/// `(3,0,0)`
std::string place_text(const gpu::Extent3& place);

std::string stamps_text(const Analysis& analysis, const render::Paint& paint);
std::string stamps_json(const std::string& file, const std::vector<Analysis>& analyses);
/// One row for each stamp; times from the launch's first stamp, so that they are exact in any tool.
std::string stamps_csv(const std::vector<Analysis>& analyses);
/// One picture: what ran on each SM when, and below it how long each warp took.
std::string stamps_svg(const Analysis& analysis);

}  // namespace syscost::bench::gpu_stamps
