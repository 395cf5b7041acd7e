// SPDX-License-Identifier: MIT
//
// What the process that times tells the one that counts, beside its orders.
#pragma once

#include <string>
#include <vector>

#include "session/options/options.h"

namespace syscost::session {

/// NAME=VALUE of the variables by which a counting process with tools knows the run it belongs to; none without tools.
std::vector<std::string> variables_for_counting_process();
/// Reads them, in that process.
void take_variables_of_counting_process(Options& options);

}  // namespace syscost::session
