// SPDX-License-Identifier: MIT
//
// Older threads: calls in a test by threads that are older than the test, such as a server of the suite's set-up.
//
// Such a thread closes a file in one test, between two tests or in the next one, as chance has it. So its calls say
// nothing of a test, but their sum over the run does say something of the program. Here they leave the windows of
// tests, and the sum becomes one more window: `store_tests (older threads)`.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/dataset.h"
#include "model/group.h"

namespace syscost::bench::model {

/// By name of a program with tests: true if each of its rows says which threads made the calls, and it is known what
/// each of its processes did between tests (LoadOptions::keep_between).
std::map<std::string, bool> tell_older_threads(const Dataset& data);

/// Takes the calls of older threads out of the windows of `programs`. If `adds_sums`, each run of a program that has
/// such calls gets a sample of kind `between` with their sum, and that of the calls between tests which the thread that
/// runs the tests did not make. The sum has entries alone: trips into the kernel, or calls where a backend sees no
/// entries. The second call for the same data changes nothing.
void part_older_threads(Dataset& data, const std::set<std::string>& programs, bool adds_sums);

/// Leaves out what lies between tests, but for the sums.
void leave_out_between(const Dataset& data, std::vector<Group>& groups);

}  // namespace syscost::bench::model
