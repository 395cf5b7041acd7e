// SPDX-License-Identifier: MIT
//
// Rules about a GPU: what its driver's calls and its kernels' times say.
#pragma once

#include <vector>

#include "findings/rule.h"

namespace syscost::bench::findings {

std::vector<Hit> gpu_transfers(const TestWindows& test);
std::vector<Hit> gpu_allocations(const TestWindows& test);

}  // namespace syscost::bench::findings
