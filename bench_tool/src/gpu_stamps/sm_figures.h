// SPDX-License-Identifier: MIT
//
// Figures of blocks on their SMs: how they were handed out, in how many waves, and how evenly.
#pragma once

#include <map>
#include <vector>

#include "gpu_stamps/analysis.h"

namespace syscost::bench::gpu_stamps {

using BlocksBySm = std::map<std::uint64_t, std::vector<gpu::BlockRun>>;

Figure<Ranks> entry_skew(const gpu::StampedLaunch& launch, const BlocksBySm& by_sm);
Figure<Waves> waves(const gpu::StampedLaunch& launch, const BlocksBySm& by_sm);
Figure<SmLoad> sm_load(const gpu::StampedLaunch& launch, const BlocksBySm& by_sm);

}  // namespace syscost::bench::gpu_stamps
