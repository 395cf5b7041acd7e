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

#include "model/dataset.h"
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

/// True if `group` failed in a process, and passed in the last process of each run that it failed in: `ctest --repeat
/// until-pass` starts the program anew, in the same run.
///
/// The file does not say why a test ran in two processes: the two may as well differ in their arguments. So its failure
/// stays one, until the user says that the later process is another attempt.
bool was_retried(const model::Dataset& data, const model::Group& group);

/// Takes the processes in which a test was not yet retried out of `groups`, with all windows of that test. Returns the
/// names of these tests.
std::vector<std::string> leave_out_failed_attempts(const model::Dataset& data, std::vector<model::Group>& groups);

}  // namespace syscost::bench::stats
