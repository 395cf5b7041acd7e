// SPDX-License-Identifier: MIT
//
// Rules about reading, writing, and connections.
#pragma once

#include <vector>

#include "findings/rule.h"

namespace syscost::bench::findings {

std::vector<Hit> tiny_writes(const WindowCalls& window);
std::vector<Hit> tiny_writes_in_order(const TracedWindow& window);
std::vector<Hit> tiny_reads(const WindowCalls& window);
std::vector<Hit> tiny_reads_in_order(const TracedWindow& window);
std::vector<Hit> seek_then_read(const TracedWindow& window);
std::vector<Hit> connection_per_message(const TracedWindow& window);

}  // namespace syscost::bench::findings
