// SPDX-License-Identifier: MIT
#include "stats/family.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/rank_test.h"

namespace syscost::bench::stats {

std::vector<double> adjusted_p(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
  std::vector<double> adjusted(p.size());
  double smallest = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto rank = static_cast<double>(order.size() - i);
    smallest = std::min(smallest, p[order[i]] * static_cast<double>(order.size()) / rank);
    adjusted[order[i]] = smallest;
  }
  return adjusted;
}

std::size_t samples_needed(std::size_t tests, double alpha) {
  std::size_t n = 2;
  while (smallest_p(n, n) * static_cast<double>(tests) >= alpha) ++n;
  return n;
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace syscost::bench::stats
