// SPDX-License-Identifier: MIT
//
// bench show --svg for call stacks: of a file of folded stacks (stacks.folded, which --syscost_where writes beside the
// CSV), or of the lines of tests.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/options.h"
#include "commands/where.h"

namespace syscost::bench::commands {

/// True if RUN is a file of folded stacks: `*.folded`.
bool is_folded_file(const std::string& path);

/// Draws it. TEST leaves the stacks with a frame that holds it. Returns the exit code.
int show_folded(const cli::Options& options, std::ostream& err);

/// Draws the lines of `tests`, by test, file, function and line. Returns why it could not, or "".
std::string draw_sites(const std::string& path, const std::vector<SitedTest>& tests);

}  // namespace syscost::bench::commands
