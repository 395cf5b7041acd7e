// SPDX-License-Identifier: MIT
#include "stats/spread.h"

#include <algorithm>

namespace syscost::bench::stats {

std::optional<Spread> spread_of(std::vector<double> values) {
  return spread_in(values);
}

std::optional<Spread> spread_in(std::span<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  Spread spread;
  spread.n = values.size();
  spread.min = values.front();
  spread.max = values.back();
  const std::size_t half = values.size() / 2;
  spread.median = values.size() % 2 == 1 ? values[half] : values[half - 1] + (values[half] - values[half - 1]) / 2;
  return spread;
}

}  // namespace syscost::bench::stats
