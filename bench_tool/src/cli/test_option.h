// SPDX-License-Identifier: MIT
//
// --test, which many commands have.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/options.h"

namespace syscost::bench::cli {

void add_test_option(CLI::App& command, Options& options);

}  // namespace syscost::bench::cli
