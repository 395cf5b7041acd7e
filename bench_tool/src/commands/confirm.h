// SPDX-License-Identifier: MIT
//
// bench confirm: compare, and what is red is run again before it is called so.
#pragma once

#include <iosfwd>

#include "cli/options.h"
#include "render/paint.h"

namespace syscost::bench::commands {

/// Returns compare's exit code; 2 also when the command fails.
int confirm(const cli::Options& asked, const render::Paint& paint, std::ostream& out, std::ostream& err);

}  // namespace syscost::bench::commands
