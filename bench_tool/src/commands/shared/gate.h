// SPDX-License-Identifier: MIT
//
// Which rows of a comparison fail the gate, which have no answer, and why: two backends may count no common thing.
//
// A test that vanished, failed or was skipped is not measured any more. If the gate were green then, a crash would turn
// it green. So such a test fails the gate like a count that grew, for every --gate, unless --allow says otherwise.
//
// A comparison that compared nothing must not read as one that found nothing, so compare and check say this first.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "judge/verdict.h"

namespace syscost::bench::commands {

/// The reasons why `row` fails, in this order: counts, wall, cpu; or one of missing, failed, skipped, crashed. Empty:
/// it does not fail. A test that already failed in OLD does not fail by that, nor one that was skipped and still is.
std::vector<std::string_view> gate_failures(const judge::Comparison& row, const cli::Gate& gate);

/// True if --strict ends in exit code 3 for this row, because a gated measure has no verdict.
bool lacks_answer(const judge::Comparison& row, const cli::Gate& gate);

/// `gate: 2 tests fail: 1 by counts, 1 missing`; `gate: no test fails (counts)`.
std::string gate_line(const std::vector<judge::Comparison>& rows, const cli::Gate& gate);

/// The gated measures: `counts`, `wall`, `cpu`.
std::vector<std::string_view> gated_measures(const cli::Gate& gate);

std::vector<const judge::Comparison*> pointers_to(const std::vector<judge::Comparison>& rows);

/// True if both sides have the test, and no count of it is on both.
bool is_not_compared(const judge::Comparison& row);

/// `2 of 112 tests could not be compared: OLD counted calls, NEW entries: Log.A, Log.B`; "" if all could.
std::string not_compared(const std::vector<const judge::Comparison*>& rows);

/// `2 tests without a verdict`: both sides ran them, and the counts of one are lower bounds; "" if there are none.
std::string without_verdict(const std::vector<const judge::Comparison*>& rows);
/// `3 tests in doubt`, for the line of the verdict: they do not fail the gate. "" if there is none.
std::string in_doubt(const std::vector<const judge::Comparison*>& rows);
/// `1 test accepted`: it would be red or in doubt. "" if there is none.
std::string accepted(const std::vector<const judge::Comparison*>& rows);

/// True if both sides ran a test. If no side has one, a pair of anything will do, such as set-ups.
bool has_any_test_pair(const std::vector<const judge::Comparison*>& rows);

/// True if both sides ran a test, and the counts of none got a verdict. That of a set-up says nothing of the tests.
bool judged_nothing(const std::vector<const judge::Comparison*>& rows);

/// `the times of 2 of 5 tests could not be compared: NEW has none: BM_Copy, BM_Move`, of the clocks that are gated; ""
/// if each test has one that was compared.
std::string times_not_compared(const std::vector<const judge::Comparison*>& rows, const cli::Gate& gate);

/// Says that gated times cannot be red; "" if each that was compared has a verdict.
std::string too_few_samples(const std::vector<const judge::Comparison*>& rows, const cli::Gate& gate);

/// True if both sides ran a test, and no time that is gated could be red: none was compared with enough samples.
bool judged_no_time(const std::vector<const judge::Comparison*>& rows, const cli::Gate& gate);

/// A warning that failed calls were measured on one side only; "" if there is no such test.
std::string errors_not_compared(const std::vector<const judge::Comparison*>& rows);

}  // namespace syscost::bench::commands
