// SPDX-License-Identifier: MIT
//
// bench runs: lists the runs in a file. Files grow by appending; commands read the newest run unless you name another.
#pragma once

#include <iosfwd>

#include "cli/options.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int runs(const cli::Options& options, std::ostream& out, std::ostream& err);

}  // namespace syscost::bench::commands
