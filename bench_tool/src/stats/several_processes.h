// SPDX-License-Identifier: MIT
//
// Tests that ran in several processes of one run.
//
// The processes may be repetitions, or one program with other arguments or variables: the file does not say which. As
// repetitions their counts become one range, in which a change of one configuration does not show. So a comparison of
// such a range says it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/dataset.h"
#include "model/group.h"
#include "stats/count_policy.h"
#include "stats/verdict.h"

namespace syscost::bench::stats {

/// The most processes of one run in which a test or a benchmark ran and did not fail; 0 for other windows.
std::size_t processes_in_a_run(const model::Dataset& data, const model::Group& group);

/// Marks the rows of tests which ran in several processes of a run with unlike counts, or in NEW in fewer than in OLD
/// (Comparison::has_unclear_processes). Returns warnings that name them.
std::vector<std::string> mark_unclear_processes(const CountPolicy& policy, std::string_view old_side,
                                                std::string_view new_side, std::vector<Comparison>& rows);

/// The same warning about the tests of one side alone; "" if there are none.
std::string unlike_processes(const CountPolicy& policy, const std::vector<WindowSummary>& windows);

}  // namespace syscost::bench::stats
