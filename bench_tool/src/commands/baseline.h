// SPDX-License-Identifier: MIT
//
// bench baseline update: writes the counts of tests into a file to commit.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "csv/problems.h"
#include "model/baseline.h"
#include "model/dataset.h"
#include "model/group.h"
#include "stats/window_summary.h"

namespace syscost::bench::commands {

/// Returns the exit code: 0 when the file was written, else 2.
int baseline_update(const cli::Options& options, std::ostream& out, std::ostream& err);

/// The parts of a run's environment that may change counts, in the words of the baseline's head.
std::vector<std::pair<std::string, std::string>> surroundings_of(const model::Dataset& data);

/// Adds the classes of the syscalls of `window`.
void add_classes(const stats::WindowSummary& window, model::Baseline& baseline);

/// Replaces the file's content by `text`, completely or not at all. Returns the error, or "".
std::string write_file(const std::string& path, const std::string& text);

/// Reads the file, and adds its faults to `problems`.
std::optional<model::Baseline> read_baseline(const std::string& path, csv::Problems& problems);

}  // namespace syscost::bench::commands
