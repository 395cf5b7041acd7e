// SPDX-License-Identifier: MIT
//
// Correlation: syscalls that are made more often in the same tests.
//
// Spearman's rho is the correlation of ranks. It asks only whether one count grows when the other one does, not whether
// it grows in proportion. Counts have many equal values: these share the mean of their ranks.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace syscost::bench::stats {

/// How often each test makes a syscall; all have the same tests in the same order.
struct CallSeries {
  std::string syscall;
  std::vector<double> calls;
};

struct Correlation {
  std::size_t first = 0;  ///< Index into the series.
  std::size_t second = 0;
  double rho = 0;  ///< -1 to 1.
  double p = 1;    ///< Two-sided, by Student's t with n - 2 degrees of freedom; adjusted for all pairs (family.h).
};

/// Of syscalls that always move together (kTogetherRho with the first of them in the order of the series), only this
/// first one is in pairs with others, and in one pair with each of its set. The other pairs would say the same again.
struct Correlations {
  std::vector<Correlation> found;  ///< The largest |rho| first.
  std::size_t pairs = 0;           ///< That were looked at.
  std::size_t repeated = 0;        ///< That are correlated and left out of `found`, because a pair in it says the same.
  std::string reason;              ///< Why none could be; else empty.
};

/// With fewer tests a correlation is chance.
inline constexpr std::size_t kLeastTestsForCorrelation = 20;
/// A syscall that fewer tests make is not looked at.
inline constexpr std::size_t kLeastMakers = 5;
/// Pairs with a smaller |rho|, or a larger p, are not named.
inline constexpr double kLeastRho = 0.7;
inline constexpr double kMostP = 0.01;
/// With this rho, which is printed as 1.00, two syscalls move together in all tests but for a few.
inline constexpr double kTogetherRho = 0.995;

/// Spearman's rho of two series of the same length, 3 or more. 0 if all values of one are equal.
double spearman(std::span<const double> a, std::span<const double> b);

/// The pairs of `series` that are correlated. A syscall with the same count in every test is left out.
Correlations correlations_of(std::span<const CallSeries> series);

}  // namespace syscost::bench::stats
