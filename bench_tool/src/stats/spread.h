// SPDX-License-Identifier: MIT
//
// Spread: one number over the repetitions of a test.
//
// One rule for counts and times: the median stands for them. Exact counts either repeat exactly or they do not, and the
// two want different words: `1024` against `1024 [1024..1026]`. A Spread holds what both need.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace syscost::bench::stats {

struct Spread {
  std::size_t n = 0;
  double median = 0;
  double min = 0;
  double max = 0;

  bool is_exact() const { return min == max; }
};

/// Describes `values`; nullopt if there are none.
std::optional<Spread> spread_of(std::vector<double> values);
/// The same; it sorts them.
std::optional<Spread> spread_in(std::span<double> values);

}  // namespace syscost::bench::stats
