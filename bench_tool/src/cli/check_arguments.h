// SPDX-License-Identifier: MIT
//
// The command line of `baseline`, `check` and `confirm`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/options.h"

namespace syscost::bench::cli {

/// Adds the options that these commands alone have. `run`: check's RUN.
CLI::App* add_baseline_command(CLI::App& app, Options& options, const char* run_help);
CLI::App* add_check_command(CLI::App& app, Options& options, std::string& run, const char* run_help);

CLI::App* add_confirm_command(CLI::App& app, Options& options, std::string& old_run, std::string& new_run,
                              const char* run_help);

/// Returns the fault of their options as a sentence, or "".
std::string check_fault(const Options& options);

}  // namespace syscost::bench::cli
