// SPDX-License-Identifier: MIT
//
// The command line of `faults`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/options.h"

namespace syscost::bench::cli {

/// Adds the options that this command alone has.
CLI::App* add_faults_command(CLI::App& app, Options& options);

/// Returns the fault of its options as a sentence, or "".
std::string faults_fault(const Options& options);

}  // namespace syscost::bench::cli
