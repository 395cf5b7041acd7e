// SPDX-License-Identifier: MIT
//
// bench export: a run for programs that keep the history of many, by the OpenTelemetry protocol.
#pragma once

#include <iosfwd>

#include "cli/options.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int export_run(const cli::Options& options, std::ostream& out, std::ostream& err);

}  // namespace syscost::bench::commands
