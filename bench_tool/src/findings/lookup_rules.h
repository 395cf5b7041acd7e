// SPDX-License-Identifier: MIT
//
// The rule about looking for what is not there: one path again and again, or a name through many folders.
#pragma once

#include <vector>

#include "findings/rule.h"

namespace syscost::bench::findings {

std::vector<Hit> missing_paths(const WindowCalls& window);
std::vector<Hit> missing_paths_in_order(const TracedWindow& window);

}  // namespace syscost::bench::findings
