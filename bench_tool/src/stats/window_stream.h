// SPDX-License-Identifier: MIT
//
// Window stream: the summaries of many windows, one after the other.
//
// A summary is some hundred times as large as the line that is printed of it, so those of a large run are not kept.
#pragma once

#include <functional>
#include <vector>

#include "stats/window_summary.h"

namespace syscost::bench::stats {

/// Calls `take` with the summary of each of `groups` and its index, in their order, on the caller's thread; summaries
/// are made on all cores, some hundred at a time.
void for_each_summary(const model::Dataset& data, const std::vector<model::Group>& groups, bool per_iteration,
                      const std::function<void(std::size_t, WindowSummary&&)>& take);

}  // namespace syscost::bench::stats
