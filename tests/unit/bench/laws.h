// SPDX-License-Identifier: MIT
//
// Counts with a known law, for tests of what solves them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "scale/solve_law.h"

namespace syscost::bench::testing {

/// One size, and what a program calls there.
using CountAt = std::function<std::int64_t(std::int64_t n, std::int64_t m)>;

inline scale::Counts counts_over(const std::vector<scale::Size>& sizes, const CountAt& count) {
  scale::Counts counts;
  counts.sizes = sizes;
  for (const scale::Size& size : sizes) {
    counts.values.push_back({count(size[0], size[1]), 1});
    counts.has_two = counts.has_two || size[1] != sizes.front()[1];
  }
  return counts;
}

inline scale::Counts counts_over(const std::vector<std::int64_t>& sizes, const CountAt& count) {
  std::vector<scale::Size> pairs;
  for (const std::int64_t n : sizes) pairs.push_back({n, 1});
  return counts_over(pairs, count);
}

inline scale::Counts counts_of(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& values) {
  std::size_t i = 0;
  return counts_over(sizes, [&](std::int64_t, std::int64_t) { return values[i++]; });
}

/// The law as it is printed; `no law`, or `too few: ` and the law, where it is not said.
inline std::string law_text(const scale::Solved& solved, bool are_powers = false) {
  if (solved.solution == scale::Solution::no_law) return "no law";
  const std::string text = scale::text_of(solved.law, {"n", "m"}, are_powers);
  return solved.solution == scale::Solution::law ? text : "too few: " + text;
}

}  // namespace syscost::bench::testing
