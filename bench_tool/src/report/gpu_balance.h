// SPDX-License-Identifier: MIT
//
// What a GPU was busy with in each test: GPU kernels, or copies between host and device, by CUPTI's figures.
#pragma once

#include <string>

#include "report/run.h"

namespace syscost::bench::report {

/// A bar for each test that has both sums (--syscost_profile cupti); "" if there is none.
std::string gpu_balance(const Run& run);

}  // namespace syscost::bench::report
