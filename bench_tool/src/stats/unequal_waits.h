// SPDX-License-Identifier: MIT
//
// Single runs of tests that wait for other threads or processes. If such a test waited more or less often in NEW than
// in OLD, its threads ran in another order. Then one run of each side does not show whether the program changed or the
// order alone (docs/statistics.md, "Single runs of tests that wait").
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stats/verdict.h"

namespace syscost::bench::stats {

/// Makes `near`, with the reason, what the order of threads explains in tests of which OLD has one or two repetitions:
/// most changes of a test that waited otherwise, and small changes of the same syscalls in tests of the same program
/// that waited alike. Leaves tests that do not wait, syscalls that no test of the other side makes, growth far beyond
/// the waits, and syscalls with a tolerance of 0 %. Call it before allow_for_scatter(), which takes back what grew in
/// most tests. Returns the indices of the rows that it made `near`.
std::vector<std::size_t> allow_for_unequal_waits(const CountPolicy& policy, std::vector<Comparison>& rows);

/// `203 tests wait for other threads or processes, ...`; a warning. `remedy`: what to do so that they can be judged.
std::string warning_of_unequal_waits(std::size_t tests, std::string_view remedy);

}  // namespace syscost::bench::stats
