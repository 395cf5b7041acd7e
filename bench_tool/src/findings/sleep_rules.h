// SPDX-License-Identifier: MIT
//
// Rules about sleeping: for an event that could wake the thread, and again and again for a short time.
#pragma once

#include <vector>

#include "findings/rule.h"

namespace syscost::bench::findings {

std::vector<Hit> sleep_in_test(const WindowCalls& window);
std::vector<Hit> sleep_in_test_in_order(const TracedWindow& window);
std::vector<Hit> short_timeouts(const WindowCalls& window);
std::vector<Hit> short_timeouts_in_order(const TracedWindow& window);

}  // namespace syscost::bench::findings
