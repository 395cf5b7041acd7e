// SPDX-License-Identifier: MIT
//
// Variables that tell a counting process with tools the run that it belongs to.
#pragma once

#include <string>
#include <vector>

#include "session/options/options.h"

namespace syscost::session {

/// NAME=VALUE: the run's id, and the folder for the tools' files.
std::vector<std::string> counting_variables(const std::string& run_id, const std::string& artifacts);
/// Reads them into `options`, in the counting process.
void take_counting_variables(Options& options);

}  // namespace syscost::session
