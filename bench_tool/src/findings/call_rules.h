// SPDX-License-Identifier: MIT
//
// Rules about calls of any kind. They say less than others, so they are silent about a syscall that another rule names,
// unless that is a note that costs less than half.
#pragma once

#include <vector>

#include "findings/rule.h"

namespace syscost::bench::findings {

std::vector<Hit> failing_calls(const WindowCalls& window);
std::vector<Hit> failing_calls_in_order(const TracedWindow& window);
std::vector<Hit> many_calls(const WindowCalls& window);
std::vector<Hit> many_calls_in_order(const TracedWindow& window);

}  // namespace syscost::bench::findings
