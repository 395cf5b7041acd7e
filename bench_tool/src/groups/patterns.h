// SPDX-License-Identifier: MIT
//
// Patterns: the different behaviours of a run's tests, and how far they are apart.
//
// Many tests make exactly the same calls. They are one pattern, so that a run of thousands of tests has few points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "groups/behaviour.h"
#include "groups/hierarchy.h"

namespace syscost::bench::groups {

/// A coordinate: log2(1 + calls) of a syscall. One call more weighs much if there was none, and little among thousands.
struct Coordinate {
  std::uint32_t syscall = 0;
  float value = 0;  ///< Above 0.

  bool operator==(const Coordinate&) const = default;
  auto operator<=>(const Coordinate&) const = default;
};

using Point = std::vector<Coordinate>;  ///< Sorted by syscall.

/// The calls of `test` that tell what it does; empty for a quiet test.
Point point_of(const Behaviour& test, std::span<const Syscall> syscalls);

/// The part of two tests' calls that they do not share: 1 - sum of the lesser coordinates / sum of the larger ones
/// (weighted Jaccard, also called Ruzicka distance). 0 if the calls are the same, 1 if no syscall is in both.
float difference(const Point& a, const Point& b);

/// A behaviour that one or more tests have.
struct Pattern {
  Point point;
  std::vector<std::size_t> tests;  ///< Indexes into Behaviours::tests.
};

/// The patterns of the tests that are not quiet; those of the most tests first, then in the order of the tests.
std::vector<Pattern> patterns_of(const Behaviours& behaviours);

Distances distances_of(std::span<const Point> points);

}  // namespace syscost::bench::groups
