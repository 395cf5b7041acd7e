// SPDX-License-Identifier: MIT
//
// From stamps to units: threads put together to warps; warps and blocks as they are.
#pragma once

#include <vector>

#include "gpu_stamps/analysis.h"

namespace syscost::bench::gpu_stamps {

/// Ordered by block and warp. A stamp without a known warp is left out.
std::vector<Unit> units_of(const gpu::StampedLaunch& launch);

/// How many stamps the launch's sizes ask for.
gpu::Recorded expected_stamps(const gpu::StampedLaunch& launch);

/// True when single threads were stamped.
bool has_threads(const gpu::StampedLaunch& launch);

Ranks ranks_of(const std::vector<std::uint64_t>& sorted);

}  // namespace syscost::bench::gpu_stamps
