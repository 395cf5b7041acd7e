// SPDX-License-Identifier: MIT
//
// The gate: the rows of a comparison that lead to exit code 1, and the reasons.
//
// A test that vanished, failed or was skipped is not measured any more. If the gate were green then, a crash would turn
// it green. So such a test fails the gate like a count that grew, for every --gate, unless --allow says otherwise.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "stats/verdict.h"

namespace syscost::bench::commands {

/// The reasons why `row` fails, in this order: counts, wall, cpu; or one of missing, failed, skipped, crashed. Empty:
/// it does not fail. A test that already failed in OLD does not fail by that, nor one that was skipped and still is.
std::vector<std::string_view> gate_failures(const stats::Comparison& row, const cli::Gate& gate);

/// True if --strict ends in exit code 3 for this row, because a gated measure has no verdict.
bool lacks_answer(const stats::Comparison& row, const cli::Gate& gate);

/// `gate: 2 tests fail: 1 by counts, 1 missing`; `gate: no test fails (counts)`.
std::string gate_line(const std::vector<stats::Comparison>& rows, const cli::Gate& gate);

/// The gated measures: `counts`, `wall`, `cpu`.
std::vector<std::string_view> gated_measures(const cli::Gate& gate);

}  // namespace syscost::bench::commands
