// SPDX-License-Identifier: MIT
//
// Spread: the median of a few timed passes, and how far it can be trusted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace syscost::session {

/// In the unit of the values.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
  /// True: [low, high] holds the median with at least 95 % confidence. False (fewer than 6 values): least and greatest.
  bool is_interval = false;

  /// (high - low) / median; 0 when the median is 0.
  double relative_width() const { return median > 0 ? (high - low) / median : 0; }
  /// A loop is called stable if its passes agree to a tenth.
  bool is_stable() const { return relative_width() <= 0.10; }
};

/// From order statistics, which assume no distribution: P(X <= k) of Binomial(n, 1/2) bounds the error of each side
/// (David and Nagaraja, Order Statistics, 7.1). `values` must not be empty.
Spread spread_of(std::vector<double> values);

/// The judgement of a loop's times: `stable`, `UNSTABLE, 31 % apart`, `TOO SHORT to tell, ...` or `NO BODY, ...`.
/// `spread` holds nanoseconds of one call; a pass has `calls` of them.
std::string verdict_of(const Spread& spread, std::uint64_t calls);

}  // namespace syscost::session
