// SPDX-License-Identifier: MIT
//
// Chance: how easily a law fits counts that follow none.
//
// A law with free numbers fits a few small counts by chance: of 1, 1, 1, 2 over four sizes it says ceil(n/b), but every
// fifth list of ones and twos grows by one step. So the lists of counts that the laws can make are counted, and divided
// by all lists of numbers between the least and the greatest count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scale/law.h"

namespace syscost::bench::scale {

/// The least and the greatest count, in units of the counts; `high` > `low`.
struct CountRange {
  std::int64_t low = 0;
  std::int64_t high = 0;

  double numbers() const { return static_cast<double>(high - low) + 1; }
};

/// How many lists the laws a curve(x) + c with at most `parameters` free numbers make within `range`.
double lists_of_curve(const std::vector<std::int64_t>& x, Curve curve, std::size_t parameters, const CountRange& range);

/// The same for a ceil(x/b) + c and a floor(x/b) + c together; an upper bound. `enough`: a larger number need not be
/// exact.
double lists_of_blocks(const std::vector<std::int64_t>& x, std::size_t parameters, const CountRange& range,
                       double enough);

}  // namespace syscost::bench::scale
