// SPDX-License-Identifier: MIT
//
// The command line of `report`.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/options.h"

namespace syscost::bench::cli {

/// Adds the options that this command alone has.
CLI::App* add_report_command(CLI::App& app, Options& options, const char* run_help);

}  // namespace syscost::bench::cli
