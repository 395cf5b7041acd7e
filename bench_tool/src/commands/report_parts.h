// SPDX-License-Identifier: MIT
//
// What other commands find out, as the parts of a report: bench compare, bench log and bench scale in HTML.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "csv/problems.h"
#include "model/dataset.h"
#include "model/group.h"
#include "report/comparison.h"
#include "report/laws.h"
#include "report/run.h"

namespace syscost::bench::commands {

/// What changed between the two RUNs of --compare; nullopt after it printed why they cannot be compared.
std::optional<report::Comparison> compared(const cli::Options& options, csv::Problems& problems, std::ostream& err);

/// Gives each window its history over the runs in all RUNs of `options`, if there are several runs.
void add_history(const cli::Options& options, report::Run& run, csv::Problems& problems);

/// The families of tests in `data`, with their laws.
std::vector<report::LawFamily> law_families(const model::Dataset& data, const std::vector<model::Group>& groups);

}  // namespace syscost::bench::commands
