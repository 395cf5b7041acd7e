// SPDX-License-Identifier: MIT
//
// Finds a tool's executable, and makes an environment for it that no test has changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "os/result.h"

namespace syscost::profilers {

/// Absolute path of `tool`, from PATH (not under AT_SECURE: os/environment.h) and then the folders where
/// systems keep tools of root's. Fails with `how_to_get`.
Result<std::string> find_tool(const std::string& tool, std::string_view how_to_get);

/// Returns PATH with those folders, HOME, TMPDIR, and the variables that begin with `tool_prefix` ("BPFTRACE_"), as
/// they are now. It leaves all others out: LD_PRELOAD and sanitizer options are for the test, not for the tool.
std::vector<std::string> tool_environment(std::string_view tool_prefix);

/// The value of NAME in such a list, or empty.
std::string value_in(const std::vector<std::string>& environment, std::string_view name);

}  // namespace syscost::profilers
