// SPDX-License-Identifier: MIT
//
// The gate: which rows of a comparison end it in exit code 1, and by what.
//
// A test that vanished, failed or was skipped is not measured any more. A gate that is green then is one that a crash
// opens. So such a test fails the gate like a count that grew, whatever is gated, unless --allow says otherwise.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "stats/verdict.h"

namespace syscost::bench::commands {

/// What `row` fails by, in this order: counts, wall, cpu; or one of missing, failed, skipped, crashed. Empty: it does
/// not. A test that failed or was skipped in OLD, too, does not fail by that.
std::vector<std::string_view> gate_failures(const stats::Comparison& row, const cli::Gate& gate);

/// True when --strict ends in exit code 3 for it: what is gated has no verdict.
bool lacks_answer(const stats::Comparison& row, const cli::Gate& gate);

/// `gate: 2 tests fail: 1 by counts, 1 missing`; `gate: no test fails (counts)`.
std::string gate_line(const std::vector<stats::Comparison>& rows, const cli::Gate& gate);

/// Words of what is gated: `counts`, `wall`, `cpu`.
std::vector<std::string_view> gated_measures(const cli::Gate& gate);

}  // namespace syscost::bench::commands
