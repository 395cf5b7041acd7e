// SPDX-License-Identifier: MIT
//
// compare in the formats that CI systems read: JUnit (test reports), SARIF (code scanning) and GitHub's workflow
// commands (lines of a log that become annotations).
#pragma once

#include <string>

#include "commands/compare.h"
#include "model/test_locations.h"

namespace syscost::bench::commands {

/// A test case for each row; what fails the gate is a failure, what has no verdict is skipped.
std::string compare_junit(const CompareResult& result, const model::TestLocations& locations);
/// SARIF 2.1.0: a result for each row that fails the gate, with rules syscost/counts, syscost/wall, ...
std::string compare_sarif(const CompareResult& result, const model::TestLocations& locations);
/// `::error file=...,line=...,title=...::...` for each row that fails, `::warning` for each without a verdict, and a
/// `::notice` with the totals.
std::string compare_github(const CompareResult& result, const model::TestLocations& locations);

}  // namespace syscost::bench::commands
