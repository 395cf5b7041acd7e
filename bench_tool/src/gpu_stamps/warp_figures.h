// SPDX-License-Identifier: MIT
//
// Figures of warps and their threads: how far apart they exit, which ran long, what of their width they used.
#pragma once

#include <vector>

#include "gpu_stamps/analysis.h"

namespace syscost::bench::gpu_stamps {

Figure<ExitSpread> exit_spread(const gpu::StampedLaunch& launch, const gpu::Recorded& resolution_ns);

/// Work done / (32 x the most one thread of the warp did), over all warps that counted.
Figure<SimtEfficiency> simt_efficiency(const std::vector<Unit>& units);

/// Units with a time over the median by more than three robust standard deviations (1.4826 x the median absolute
/// deviation, which is one of a normal distribution) and by more than the timer resolves. Pointers into `units`.
Figure<Stragglers> stragglers(const std::vector<Unit>& units, const gpu::Recorded& resolution_ns);

/// Eta squared of a one-way analysis of variance: exits, from the warp's first, by the thread's number modulo 2 to 32.
Figure<Pattern> exit_pattern(const gpu::StampedLaunch& launch);

}  // namespace syscost::bench::gpu_stamps
