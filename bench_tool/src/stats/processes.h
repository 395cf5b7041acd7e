// SPDX-License-Identifier: MIT
//
// processes: in how many processes of a run a test ran, and whether one of them was only a failed attempt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "model/dataset.h"

namespace syscost::bench::stats {

/// Run, host, start and process id. In one run, two processes may have one id: the first process of a container is 1.
using Process = std::tuple<model::NameId, model::NameId, model::NameId, std::uint64_t>;

/// The process of a sample.
Process process_of(const model::Dataset& data, std::uint32_t sample);

/// The most processes of one run in which a test or a benchmark ran and did not fail; 0 for other windows.
std::size_t processes_in_a_run(const model::Dataset& data, const model::Group& group);

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
