// SPDX-License-Identifier: MIT
//
// TestRow: what the CSV and the trace of a run say about one test.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "faults/outcome.h"
#include "faults/plan.h"

namespace syscost::bench::faults {

/// The names of the tests of a CSV, in the order in which they ran. Nothing if it cannot be read.
std::vector<std::string> tests_in(const std::filesystem::path& csv);

/// Fills in what the row of `test` says; has_row stays false if there is none. `failure`: which one was to happen; null
/// = none.
void read_row(const std::filesystem::path& csv, const std::string& test, const Failure* failure, Observed& observed);

/// The calls of `test`, by syscall and call site. With a trace below `traces`, each call has its site and its number;
/// else there is one place for each syscall. If there is a trace, calls that can lose nothing are left out
/// (written_files.h).
std::vector<Place> places_of(const std::filesystem::path& csv, const std::filesystem::path& traces,
                             const std::string& test);

}  // namespace syscost::bench::faults
