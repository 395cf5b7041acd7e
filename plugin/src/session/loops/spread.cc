// SPDX-License-Identifier: MIT
#include "session/loops/spread.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "os/decimal_text.h"

namespace syscost::session {
namespace {

/// Reading the clock twice takes up to a tenth of a microsecond. That is more than a fiftieth of a shorter pass.
constexpr double kLeastPassNs = 5'000;
/// No call takes less: this is a fraction of a cycle of any processor.
constexpr double kNothingNs = 0.05;

/// bench (stats/interval.cc) has this from Boost.Math, which a program under test must not have to link.
/// How many values may be left out at each end so that the others still hold the median with 95 % confidence; 0 if even
/// all values are too few.
std::size_t values_outside(std::size_t n) {
  double term = std::pow(0.5, static_cast<double>(n));
  double below = term;
  std::size_t outside = 0;
  while (below <= 0.025 && outside < n / 2) {
    ++outside;
    term *= static_cast<double>(n - outside + 1) / static_cast<double>(outside);
    below += term;
  }
  return outside;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  const std::size_t middle = n / 2;
  Spread spread;
  spread.median = n % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  // The interval runs from the k-th least to the k-th greatest value.
  const std::size_t k = values_outside(n);
  spread.is_interval = k > 0;
  spread.low = values[k > 0 ? k - 1 : 0];
  spread.high = values[k > 0 ? n - k : n - 1];
  return spread;
}

std::string verdict_of(const Spread& spread, std::uint64_t calls) {
  if (spread.median < kNothingNs) return "NO BODY, the compiler removed it (syscost::do_not_optimize)";
  if (spread.median * static_cast<double>(calls) < kLeastPassNs) {
    return "TOO SHORT to tell, more --syscost_cycles would";
  }
  if (spread.is_stable()) return "stable";
  return "UNSTABLE, " + decimal_text(100 * spread.relative_width(), 0) + " % apart";
}

}  // namespace syscost::session
