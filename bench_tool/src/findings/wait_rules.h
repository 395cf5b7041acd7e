// SPDX-License-Identifier: MIT
//
// Rules about waiting: too eagerly, for a fixed time, or for a lock.
#pragma once

#include <vector>

#include "findings/rule.h"

namespace syscost::bench::findings {

std::vector<Hit> busy_polling(const WindowCalls& window);
std::vector<Hit> busy_polling_in_order(const TracedWindow& window);
std::vector<Hit> lock_convoy(const TracedWindow& window);

}  // namespace syscost::bench::findings
