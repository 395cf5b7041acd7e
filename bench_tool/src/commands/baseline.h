// SPDX-License-Identifier: MIT
//
// bench baseline update: writes what tests ask of the kernel into a file to commit.
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

/// What matters of where a run was made, in the words of the baseline's head.
std::vector<std::pair<std::string, std::string>> surroundings_of(const model::Dataset& data);

/// Adds the classes of the syscalls of `window`.
void add_classes(const stats::WindowSummary& window, model::Baseline& baseline);

/// Puts `text` in the place of the file, whole or not at all. Returns what went wrong, or "".
std::string write_file(const std::string& path, const std::string& text);

/// Reads the file; what is wrong with it is in `problems`.
std::optional<model::Baseline> read_baseline(const std::string& path, csv::Problems& problems);

}  // namespace syscost::bench::commands
