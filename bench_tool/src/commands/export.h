// SPDX-License-Identifier: MIT
//
// bench export: a run for programs that keep the history of many, by the OpenTelemetry protocol or as text.
#pragma once

#include <iosfwd>

#include "cli/options.h"
#include "csv/problems.h"
#include "model/dataset.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int export_run(const cli::Options& options, std::ostream& out, std::ostream& err);

/// The runs that the command line chooses, with their histograms.
model::Dataset load_exported_runs(const cli::Options& options, csv::Problems& problems);

}  // namespace syscost::bench::commands
