// SPDX-License-Identifier: MIT
//
// The rule about syncing files more often than their changes need.
#pragma once

#include <vector>

#include "findings/rule.h"

namespace syscost::bench::findings {

std::vector<Hit> fsync_storm(const WindowCalls& window);
std::vector<Hit> fsync_storm_in_order(const TracedWindow& window);

}  // namespace syscost::bench::findings
