// SPDX-License-Identifier: MIT
//
// The table of tests, a line for each; and two more lists of the tests of a run: their kinds, and what they do that
// costs more than it has to.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "findings/find.h"
#include "report/run.h"

namespace syscost::bench::report {

/// The cards of so many of the first windows stand on the page itself, for a reader without JavaScript.
inline constexpr std::size_t kStaticCards = 20;

/// `card` of the window `index` as an element that a reader opens.
std::string folded_card(const Window& window, std::size_t index, const std::string& card);

/// A line that names the test with the longest wall time; empty if fewer than two have one.
std::string slowest_test(const Run& run);

/// A line for each of the windows that have the unit `unit` (see unit_of()); empty if there are none. A browser sorts
/// and filters the lines, and a line opens its card. `places`: where the card of each window of `run` is packed.
std::string tests_table(const Run& run, std::string_view unit, const std::vector<std::string>& places);

/// Tests that behave alike, or those of a fixture.
struct Kind {
  std::string name;
  double share_of_calls = 0;       ///< In all calls of the run's tests: 0 to 1.
  std::string calls;               ///< `50 openat, 50 close, 7 read and 3 more`
  std::vector<std::string> tests;  ///< Names; the most typical one first.
};

/// The kinds of tests of a run, as `bench groups` finds them, and what fixtures cost.
struct Kinds {
  std::string headline;            ///< `4 groups of 166 tests: ...`; empty if the run has no tests.
  std::vector<Kind> groups;        ///< The most tests first.
  std::vector<std::string> alone;  ///< Tests that are like no other.
  std::size_t quiet = 0;           ///< Tests without calls that tell what they do.
  std::vector<Kind> fixtures;      ///< Their `calls` are those that each of their tests makes.
};

std::string kinds_section(const Run& run, const Kinds& kinds);

/// Empty if there are none.
std::string findings_section(const Run& run, const findings::Findings& findings);

}  // namespace syscost::bench::report
