// SPDX-License-Identifier: MIT
//
// Rules about memory, and about processes that copy it.
#pragma once

#include <vector>

#include "findings/rule.h"

namespace syscost::bench::findings {

std::vector<Hit> allocator_churn(const WindowCalls& window);
std::vector<Hit> allocator_churn_in_order(const TracedWindow& window);
std::vector<Hit> fork_without_exec(const TestWindows& test);

}  // namespace syscost::bench::findings
