// SPDX-License-Identifier: MIT
//
// What the process that times tells the one that counts, beside its request.
#pragma once

#include <string>
#include <vector>

namespace syscost::session {

/// NAME=VALUE of the variables by which a counting process with tools knows the run it belongs to; none without tools.
std::vector<std::string> variables_for_counting_process();

}  // namespace syscost::session
