// SPDX-License-Identifier: MIT
//
// bench run: measures programs that are not linked with syscost. bench itself measures nothing; syscost-run does.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"

namespace syscost::bench::commands {

/// Becomes syscost-run, with the arguments of `options`. Returns an exit code where it is not there.
int run_programs(const cli::Options& options, std::ostream& err);

/// Where syscost-run is, or would be; empty if the folder of bench is not known, and errno says why.
std::string runner_path();
/// Why `command` ("bench run") could not execute `runner`, which may be empty, and what to do.
std::string no_runner(const std::string& runner, std::string_view command, int error);

/// bench run --live: runs syscost-run below this process, and shows the newest interval of its command until it ends.
/// `program`: syscost-run; `arguments`: its own, without --live. On a terminal the table of the newest interval is
/// drawn again and again, elsewhere each interval is one line; all on standard error. Returns the command's exit code.
int run_live(const std::string& program, std::vector<std::string> arguments, const cli::Options& options);

}  // namespace syscost::bench::commands
