// SPDX-License-Identifier: MIT
//
// Outputs: one result in several formats, so that what took many runs is not judged once for each.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "cli/options.h"

namespace syscost::bench::commands {

/// Writes a result as the options say: format, report and their sizes.
using WriteResult = std::function<void(const cli::Options& options, std::ostream& out, std::ostream& err)>;

/// Writes the files of --output. Returns what is wrong, or "".
std::string write_outputs(const cli::Options& options, const WriteResult& write);

}  // namespace syscost::bench::commands
