// SPDX-License-Identifier: MIT
//
// bench ab: runs two commands in turns and compares them, until every time is decided or the budget is spent.
//
// Two runs an hour apart differ because the machine did other work meanwhile. Two processes differ by chance, for
// example in their memory layout. In turns both sides run during the same time, and over many processes chance is the
// same for both. So these times may be gated.
#pragma once

#include <iosfwd>

#include "cli/options.h"
#include "commands/shared/command_runs.h"
#include "render/terminal.h"

namespace syscost::bench::commands {

/// Returns the exit code, as compare does; 2 when a command failed. `clock` is what the budget is measured with.
int ab(const cli::Options& asked, const render::Paint& paint, std::ostream& out, std::ostream& err,
       const Clock& clock = monotonic_s);

}  // namespace syscost::bench::commands
