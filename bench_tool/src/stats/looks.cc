// SPDX-License-Identifier: MIT
#include "stats/looks.h"

#include <algorithm>

#include "stats/family.h"

namespace syscost::bench::stats {

Look first_look(std::size_t least, std::size_t tests, double alpha) {
  constexpr double kShares = 2;
  return {std::max(least, samples_needed(std::max<std::size_t>(tests, 1), alpha / kShares)), kShares};
}

Look next_look(const Look& last) {
  return {2 * last.rounds, 2 * last.shares};
}

}  // namespace syscost::bench::stats
