// SPDX-License-Identifier: MIT
//
// Rules about reading and writing.
#pragma once

#include <vector>

#include "findings/rule.h"

namespace syscost::bench::findings {

std::vector<Hit> tiny_writes(const WindowCalls& window);
std::vector<Hit> fsync_storm(const WindowCalls& window);

}  // namespace syscost::bench::findings
