// SPDX-License-Identifier: MIT
//
// The command line of `report`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/options.h"

namespace syscost::bench::cli {

/// Adds the options that this command alone has.
CLI::App* add_report_command(CLI::App& app, Options& options, const char* run_help);

/// Where the page of this RUN goes without --output: `out.html` for `results/out.csv.gz`, in the current folder.
std::string page_name_for(const std::string& run);

}  // namespace syscost::bench::cli
