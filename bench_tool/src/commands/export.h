// SPDX-License-Identifier: MIT
//
// bench export: a run for programs that keep the history of many, by the OpenTelemetry protocol or as text.
#pragma once

#include <iosfwd>
#include <vector>

#include "cli/options.h"
#include "csv/problems.h"
#include "model/dataset.h"
#include "otlp/process_run.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int export_run(const cli::Options& options, std::ostream& out, std::ostream& err);

/// The runs that the command line chooses, with their histograms.
model::Dataset load_exported_runs(const cli::Options& options, csv::Problems& problems);

/// The processes of these runs. If there is none, it says so with the problems.
std::vector<otlp::ProcessRun> exported_processes(const cli::Options& options, const model::Dataset& data,
                                                 csv::Problems& problems, std::ostream& err);

}  // namespace syscost::bench::commands
