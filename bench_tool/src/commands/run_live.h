// SPDX-License-Identifier: MIT
//
// bench run --live: runs syscost-run below this process, and shows the newest interval of its command until it ends.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/options.h"

namespace syscost::bench::commands {

/// `program`: syscost-run; `arguments`: its own, without --live. On a terminal the table of the newest interval is
/// drawn again and again, elsewhere each interval is one line; all on standard error. Returns the command's exit code.
int run_live(const std::string& program, std::vector<std::string> arguments, const cli::Options& options);

}  // namespace syscost::bench::commands
