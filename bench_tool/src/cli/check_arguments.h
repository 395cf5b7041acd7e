// SPDX-License-Identifier: MIT
//
// The command line of `baseline` and `check`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/options.h"

namespace syscost::bench::cli {

/// Adds the options that `baseline` and `check` alone have. `run`: check's RUN.
CLI::App* add_baseline_command(CLI::App& app, Options& options, const char* run_help);
CLI::App* add_check_command(CLI::App& app, Options& options, std::string& run, const char* run_help);

}  // namespace syscost::bench::cli
