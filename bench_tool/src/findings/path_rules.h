// SPDX-License-Identifier: MIT
//
// Rules about paths: looking for files, and opening them.
#pragma once

#include <vector>

#include "findings/rule.h"

namespace syscost::bench::findings {

std::vector<Hit> open_to_probe(const TracedWindow& window);
std::vector<Hit> reopened_file(const TracedWindow& window);

}  // namespace syscost::bench::findings
