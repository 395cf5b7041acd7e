// SPDX-License-Identifier: MIT
//
// several_processes: tests that ran in several processes of one run.
//
// The processes may be repetitions, further attempts of a test that failed, or one program with other arguments: the
// file does not say which. As repetitions their counts become one range, in which a change of one configuration does
// not show. So a comparison of such a range says it, and the user says whether a later process is another attempt.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "judge/count_policy.h"
#include "judge/verdict.h"
#include "model/dataset.h"

namespace syscost::bench::judge {

/// Marks the rows of tests which ran in several processes of a run with unlike counts, or in NEW in fewer than in OLD
/// (Comparison::has_unclear_processes). Returns warnings that name them.
std::vector<std::string> mark_unclear_processes(const CountPolicy& policy, std::string_view old_side,
                                                std::string_view new_side, std::vector<Comparison>& rows);

/// The same warning about the tests of one side alone; "" if there are none.
std::string unlike_processes(const CountPolicy& policy, const std::vector<stats::WindowSummary>& windows);

}  // namespace syscost::bench::judge
