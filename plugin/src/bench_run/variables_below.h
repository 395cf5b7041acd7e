// SPDX-License-Identifier: MIT
//
// The environment of the programs below: the options as variables, and what is preloaded.
#pragma once

#include <string>
#include <vector>

namespace syscost::bench_run {

/// Ends this program where it has no path.
std::string working_directory();

/// Sets what the programs below read. Returns the CSV, empty where none is named.
std::string set_variables(const std::vector<std::string>& options);

/// One run of test programs that start one after another, or side by side, has one id.
void set_run_id();

/// False for a path that LD_PRELOAD cannot hold: the loader splits it at blanks and colons, and replaces $ORIGIN, $LIB
/// and $PLATFORM in it.
bool may_be_preloaded(const std::string& path);

/// Preloads the part that measures tests, which lies in `folder`.
void set_preload(const std::string& folder);

/// Lets each program of the command count itself.
void set_command_preload(const std::string& library, const std::string& memory);

/// A command that is measured as a whole gets the environment that it has alone. A program below it that is linked with
/// syscost would measure itself, too.
void forget_variables();

}  // namespace syscost::bench_run
