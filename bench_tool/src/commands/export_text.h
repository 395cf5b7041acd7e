// SPDX-License-Identifier: MIT
//
// export --format: a run as text for databases, on standard output.
#pragma once

#include <iosfwd>

#include "cli/options.h"

namespace syscost::bench::commands {

/// Writes the runs as `options.to.format` says. Returns the exit code.
int export_text(const cli::Options& options, std::ostream& out, std::ostream& err);

}  // namespace syscost::bench::commands
