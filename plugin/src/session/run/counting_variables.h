// SPDX-License-Identifier: MIT
//
// Variables by which a counting process with tools knows the run that it belongs to.
#pragma once

#include <string>
#include <vector>

#include "session/options/options.h"

namespace syscost::session {

/// NAME=VALUE of them: the run's id, and the folder for what tools find.
std::vector<std::string> counting_variables(const std::string& run_id, const std::string& artifacts);
/// Reads them, in that process.
void take_counting_variables(Options& options);

}  // namespace syscost::session
