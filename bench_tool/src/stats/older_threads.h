// SPDX-License-Identifier: MIT
//
// Older threads: when the sums of their calls (model/older_threads.h) can be compared.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stats/verdict.h"

namespace syscost::bench::stats {

/// The sum of a program is not compared if the sides ran other tests of it, or ran them more often. If the calls of a
/// program in `untold` are apart in OLD alone, nor are its tests in which such threads made calls.
void leave_out_unlike_programs(const std::vector<WindowSummary>& old_windows,
                               const std::vector<WindowSummary>& new_windows, const std::set<std::string>& untold,
                               std::vector<Comparison>& rows);

}  // namespace syscost::bench::stats
