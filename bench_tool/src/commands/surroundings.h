// SPDX-License-Identifier: MIT
//
// Differences between the surroundings of two runs, printed before their counts: the effect of each on counts, and what
// to do.
//
// The advice is what was measured on suites that we did not write (tests/gate/surroundings, docs/statistics.md).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/dataset.h"

namespace syscost::bench::commands {

/// A line for each fact that differs and may change counts.
std::vector<std::string> surroundings_lines(const model::Dataset& before, const model::Dataset& after);

/// The facts worth remembering in a baseline, under the names of its head.
std::vector<std::pair<std::string, std::string>> facts_to_remember(const model::Dataset& data);

/// Says how counts change if the fact with this name differs between runs. Names are those of facts_to_remember(); ""
/// for an unknown name.
std::string_view advice_on(std::string_view name);

}  // namespace syscost::bench::commands
