// SPDX-License-Identifier: MIT
//
// Checks of single option values, with messages of our own: CLI11 words its own differently in each version.
#pragma once

#include <CLI/CLI.hpp>

namespace syscost::bench::cli {

/// Refuses "", which is what a variable of a script that was not set leaves.
CLI::Validator not_empty();

CLI::Validator at_least_1000();

}  // namespace syscost::bench::cli
