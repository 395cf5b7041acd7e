// SPDX-License-Identifier: MIT
//
// Tests that failed and were tried again: `ctest --repeat until-pass` starts the program anew, in the same run.
//
// The file does not say why a test ran in two processes: the two may as well differ in their arguments. So its failure
// stays one, until the user says that the later process is another attempt.
#pragma once

#include <string>
#include <vector>

#include "model/dataset.h"
#include "model/group.h"

namespace syscost::bench::stats {

/// True if `group` failed in a process, and passed in the last process of each run that it failed in.
bool was_retried(const model::Dataset& data, const model::Group& group);

/// Takes the processes in which a test was not yet retried out of `groups`, with all windows of that test. Returns the
/// names of these tests.
std::vector<std::string> leave_out_failed_attempts(const model::Dataset& data, std::vector<model::Group>& groups);

}  // namespace syscost::bench::stats
