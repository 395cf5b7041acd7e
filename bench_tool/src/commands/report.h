// SPDX-License-Identifier: MIT
//
// bench report: a run as one HTML file, to look at and to pass on.
#pragma once

#include <iosfwd>

#include "cli/options.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int report_page(const cli::Options& options, std::ostream& out, std::ostream& err);

}  // namespace syscost::bench::commands
