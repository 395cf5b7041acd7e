// SPDX-License-Identifier: MIT
//
// bench confirm: compare, which runs red tests again before it calls them red.
#pragma once

#include <iosfwd>

#include "cli/options.h"
#include "render/paint.h"

namespace syscost::bench::commands {

/// Returns compare's exit code; 2 also when the command fails.
int confirm(const cli::Options& asked, const render::Paint& paint, std::ostream& out, std::ostream& err);

}  // namespace syscost::bench::commands
