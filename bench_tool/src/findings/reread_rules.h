// SPDX-License-Identifier: MIT
//
// The rule about bytes of a file that are read again and again.
#pragma once

#include <vector>

#include "findings/rule.h"

namespace syscost::bench::findings {

std::vector<Hit> read_amplification(const TracedWindow& window);

}  // namespace syscost::bench::findings
