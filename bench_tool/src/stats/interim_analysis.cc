// SPDX-License-Identifier: MIT
#include "stats/interim_analysis.h"

#include <algorithm>

#include "stats/family.h"

namespace syscost::bench::stats {

InterimAnalysis first_look(std::size_t least, std::size_t tests, double alpha) {
  constexpr double kShares = 2;
  return {std::max(least, samples_needed(std::max<std::size_t>(tests, 1), alpha / kShares)), kShares};
}

InterimAnalysis next_look(const InterimAnalysis& last) {
  return {2 * last.rounds, 2 * last.shares};
}

}  // namespace syscost::bench::stats
