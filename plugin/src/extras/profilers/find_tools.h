// SPDX-License-Identifier: MIT
//
// Finds tools, the launcher that runs them and the shipped scripts, and makes an environment for a tool that no test
// has changed.
//
// The launcher and the scripts lie beside libsyscost.so, wherever that is installed (find_installed() in
// os/program_files.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "os/errors.h"

namespace syscost::profilers {

/// Absolute path of the executable. Fails if it does not exist.
Result<std::string> find_launcher();

/// Absolute path of the folder with the shipped scripts; empty if there is none.
std::string shipped_scripts_folder();

/// Absolute path of `tool`, from PATH (not under AT_SECURE: os/environment.h) and then the folders where
/// systems keep tools of root's. Fails with `how_to_get`.
Result<std::string> find_tool(const std::string& tool, std::string_view how_to_get);

/// Returns PATH with those folders, HOME, TMPDIR, and the variables that begin with `tool_prefix` ("BPFTRACE_"), as
/// they are now. It leaves all others out: LD_PRELOAD and sanitizer options are for the test, not for the tool.
std::vector<std::string> tool_environment(std::string_view tool_prefix);

/// The value of NAME in such a list, or empty.
std::string value_in(const std::vector<std::string>& environment, std::string_view name);

}  // namespace syscost::profilers
