// SPDX-License-Identifier: MIT
//
// The windows of a side, each summarised, and what of each is only known from all of them.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/dataset.h"
#include "stats/window_summary.h"

namespace syscost::bench::stats {

/// summarize() of each of `groups`, in their order, on all cores; and what the two functions above note.
std::vector<WindowSummary> summarize_all(const model::Dataset& data, const std::vector<model::Group>& groups,
                                         bool per_iteration);

/// Calls `take` with the summary of each of `groups` and its index, in their order, on the caller's thread; summaries
/// are made on all cores, some hundred at a time. A summary is some hundred times as large as the line that is printed
/// of it, so those of a large run are not kept.
void for_each_summary(const model::Dataset& data, const std::vector<model::Group>& groups, bool per_iteration,
                      const std::function<void(std::size_t, WindowSummary&&)>& take);

/// Sets is_of_threaded_program: `windows` are all that a side has.
void note_threaded_programs(std::vector<WindowSummary>& windows);

/// Sets is_reordered for windows of these tests (program and test), and of their suites.
void note_reordered(const std::set<std::pair<std::string, std::string>>& tests, std::vector<WindowSummary>& windows);

/// A test's scopes and loops may read what it has opened.
void note_kernel_files(std::vector<WindowSummary>& windows);

/// Sets is_of_unfinished_program for windows of `data`.
void note_unfinished(const model::Dataset& data, std::vector<WindowSummary>& windows);

/// True for a test of the suite whose set-up or tear-down `set_up` is; of an environment: for each test of the program.
bool is_test_of(const WindowSummary& set_up, const WindowSummary& test);

/// A set-up that made no call has no row. Still, its first call is a regression. If all its tests were counted on
/// `side`, this makes an empty window for it there, as the counterpart of `other` with as many repetitions as the tests
/// have, and keeps it in `made`. Null if `other` is no set-up, or `side` has no such tests.
const WindowSummary* without_calls(const WindowSummary& other, const std::vector<WindowSummary>& side,
                                   std::deque<WindowSummary>& made);

}  // namespace syscost::bench::stats
