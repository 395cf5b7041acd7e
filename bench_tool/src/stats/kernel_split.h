// SPDX-License-Identifier: MIT
//
// KernelSplit: whether more calls or slower calls changed the kernel time of a test.
#pragma once

#include <optional>

#include "stats/verdict.h"

namespace syscost::bench::stats {

/// Of work: more_calls_ns = (n1 - n0) * m0, slower_calls_ns = n1 * (m1 - m0), per syscall with n returned entries of
/// mean m, added up. Their sum is the whole change.
struct KernelSplit {
  double more_calls_ns = 0;
  double slower_calls_ns = 0;
};

/// None where the counts are not compared, or a side has no latencies.
std::optional<KernelSplit> split_kernel_time(const Comparison& row);

}  // namespace syscost::bench::stats
