// SPDX-License-Identifier: MIT
//
// The table of tests: a line for each, which a browser sorts and filters and which opens its card.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/run.h"

namespace syscost::bench::report {

/// The cards of so many of the first windows stand on the page itself, for a reader without JavaScript.
inline constexpr std::size_t kStaticCards = 20;

/// `card` of the window `index` as an element that a reader opens.
std::string folded_card(const Window& window, std::size_t index, const std::string& card);

/// A line that names the test with the longest wall time; empty if fewer than two have one.
std::string slowest_test(const Run& run);

/// A line for each of the windows that have the unit `unit` (see unit_of()); empty if there are none. `places`: where
/// the card of each window of `run` is packed.
std::string tests_table(const Run& run, std::string_view unit, const std::vector<std::string>& places);

}  // namespace syscost::bench::report
