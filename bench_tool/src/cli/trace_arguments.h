// SPDX-License-Identifier: MIT
//
// The command line of `trace`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/options.h"

namespace syscost::bench::cli {

/// Adds the options that this command alone has.
CLI::App* add_trace_command(CLI::App& app, Options& options);

/// Makes numbers of texts. Returns the fault of its options as a sentence, or "".
std::string read_trace_options(Options& options);

}  // namespace syscost::bench::cli
