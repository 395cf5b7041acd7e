// SPDX-License-Identifier: MIT
//
// The command line of `baseline` and `check`, and of further runs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/options.h"

namespace syscost::bench::cli {

/// Adds the options that these commands alone have. `run`: check's RUN.
CLI::App* add_baseline_command(CLI::App& app, Options& options, const char* run_help);
CLI::App* add_check_command(CLI::App& app, Options& options, std::string& run, const char* run_help);

/// The command that measures a side of `compare` again: one line for a shell.
void add_side_command(CLI::App& app, const std::string& name, std::vector<std::string>& command, const char* side);
void add_run_budget(CLI::App& app, Options& options);

/// Returns the fault of their options as a sentence, or "".
std::string check_fault(const Options& options);

}  // namespace syscost::bench::cli
