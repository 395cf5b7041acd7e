// SPDX-License-Identifier: MIT
//
// Threads that are older than a test, such as a server that a set-up started: a call of theirs falls into a test, into
// the next one, or between the two, as chance has it. So their calls are judged for the program: the sum over its
// windows and what lies between them. The calls of a test are then those of its own thread and of threads that it
// started.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/baseline.h"
#include "model/dataset.h"
#include "stats/verdict.h"
#include "stats/window_summary.h"

namespace syscost::bench::stats {

/// By program: what threads older than its tests did. A repetition is a run. Of a test these are the threads that it
/// did not start, of set-ups and of what lies between all but the thread that runs the tests.
using OlderThreads = std::map<std::string, WindowSummary, std::less<>>;

/// Programs are left out of which this is not known in each run: a process did not say what it did between its tests,
/// events were lost, a test failed, faults hit calls, or rows do not say who made a call. Views point into `data`.
OlderThreads older_threads_of(const model::Dataset& data);

/// The same of a baseline.
OlderThreads older_threads_of(const model::Baseline& baseline);
/// The windows of a baseline for them.
std::vector<model::BaselineWindow> to_baseline(const OlderThreads& programs);

/// The programs of both that can be compared.
std::vector<std::string> judged_by_program(const OlderThreads& old_side, const OlderThreads& new_side,
                                           const std::set<std::string, std::less<>>& left_out);

/// True for a row of such a program that has nothing to say: a program is no test.
bool is_quiet_program(const Comparison& row);

/// Sets tells_older_apart of the windows of `programs`.
void tell_older_apart(const std::vector<std::string>& programs, std::vector<WindowSummary>& windows);

}  // namespace syscost::bench::stats
