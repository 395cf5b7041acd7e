// SPDX-License-Identifier: MIT
//
// bench run: measures programs that are not linked with syscost. bench itself measures nothing; syscost-run does.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "cli/options.h"

namespace syscost::bench::commands {

/// Becomes syscost-run, with the arguments of `options`. Returns an exit code where it is not there.
int run_programs(const cli::Options& options, std::ostream& err);

/// Where syscost-run is, or would be.
std::string runner_path();
/// Says that `command` ("bench run") could not execute it; the exit code.
int no_runner(std::string_view command, int error, std::ostream& err);

}  // namespace syscost::bench::commands
