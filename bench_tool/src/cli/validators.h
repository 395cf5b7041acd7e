// SPDX-License-Identifier: MIT
//
// Checks of single option values, with messages of our own: CLI11 words its own differently in each version.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>

namespace syscost::bench::cli {

/// Refuses "", which is what a variable of a script that was not set leaves.
CLI::Validator not_empty();

CLI::Validator at_least_1000();

/// A whole number from 1 to `most`, which is 1 000 000 000 or less.
CLI::Validator at_least_1(std::size_t most);

}  // namespace syscost::bench::cli
