// SPDX-License-Identifier: MIT
//
// The kinds of tests of a run, as `bench groups` finds them, and what fixtures cost.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/run.h"

namespace syscost::bench::report {

/// Tests that behave alike, or those of a fixture.
struct Kind {
  std::string name;
  double share_of_calls = 0;       ///< In all calls of the run's tests: 0 to 1.
  std::string calls;               ///< `50 openat, 50 close, 7 read and 3 more`
  std::vector<std::string> tests;  ///< Names; the most typical one first.
};

struct Kinds {
  std::string headline;            ///< `4 groups of 166 tests: ...`; empty if the run has no tests.
  std::vector<Kind> groups;        ///< The most tests first.
  std::vector<std::string> alone;  ///< Tests that are like no other.
  std::size_t quiet = 0;           ///< Tests without calls that tell what they do.
  std::vector<Kind> fixtures;      ///< Their `calls` are those that each of their tests makes.
};

std::string kinds_section(const Run& run, const Kinds& kinds);

}  // namespace syscost::bench::report
