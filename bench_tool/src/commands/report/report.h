// SPDX-License-Identifier: MIT
//
// bench report: a run as one HTML file, to look at and to pass on.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "csv/problems.h"
#include "model/dataset.h"
#include "report/changes.h"
#include "report/laws.h"
#include "report/run.h"
#include "report/tests_table.h"
#include "report/time_use.h"
#include "trace/critical_path.h"

namespace syscost::bench::commands {

/// Returns the exit code.
int report_page(const cli::Options& options, std::ostream& out, std::ostream& err);

// Parts of a report that other commands find out: bench compare, groups, log, scale, trace --critical-path.

/// The changes between the two RUNs of --compare; nullopt after it printed why they cannot be compared.
std::optional<report::Comparison> compared(const cli::Options& options, csv::Problems& problems, std::ostream& err);

/// Gives each window its history over the runs in all RUNs of `options`, if there are several runs.
void add_history(const cli::Options& options, report::Run& run, csv::Problems& problems);

/// The families of tests in `data`, with their laws.
std::vector<report::LawFamily> law_families(const model::Dataset& data, const std::vector<model::Group>& groups);

/// The kinds of tests among the windows of `run`.
report::Kinds kinds_of(const report::Run& run);

/// The critical path of the test `name`.
report::Path path_of(const std::string& name, const trace::SchedFile& file);

}  // namespace syscost::bench::commands
