// SPDX-License-Identifier: MIT
//
// bench runs: which runs a file holds. A file grows by appending, and the others of its runs are asked for by name.
#pragma once

#include <iosfwd>

#include "cli/options.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int runs(const cli::Options& options, std::ostream& out, std::ostream& err);

}  // namespace syscost::bench::commands
