// SPDX-License-Identifier: MIT
//
// compare for CI systems: a case for each row.
#pragma once

#include <string_view>
#include <utility>

#include "commands/compare.h"
#include "render/ci_report.h"

namespace syscost::bench::commands {

/// `Log.Writes` as suite and test; of anything else its kind is the suite.
std::pair<std::string_view, std::string_view> ci_names(const stats::Comparison& row);

/// Returns a case for each row. A row that fails the gate is a failure, with the rule that it breaks: counts, wall, ...
render::CiReport compare_ci(const CompareResult& result);

/// A case for each program that crashed or failed outside of its tests.
void add_cases(const ProgramFaults& lost, render::CiReport& report);

}  // namespace syscost::bench::commands
