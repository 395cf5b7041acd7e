// SPDX-License-Identifier: MIT
//
// The Mann-Whitney U test: whether two samples of times come from one distribution.
//
// The exact distribution of U is that of all ways to deal the pooled samples out to the two sides. Ties get midranks
// and the distribution is that of these very midranks, because a clock's resolution makes ties common. Past some
// hundred pairs the normal approximation, corrected for ties, replaces it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace syscost::bench::stats {

/// Exact up to so many pairs n1 * n2 of samples; with ties the distribution is computed for each test anew.
inline constexpr std::uint64_t kMostExactPairs = 2500;
inline constexpr std::uint64_t kMostExactPairsWithTies = 400;

struct RankTest {
  double u = 0;  ///< Pairs in which NEW is the larger, ties counted half.
  double p = 1;  ///< Two-sided: twice the smaller tail, at most 1.
  bool is_exact = true;
};

/// Compares two samples. Each side needs at least one value.
RankTest rank_test(std::span<const double> old_values, std::span<const double> new_values);

/// The smallest p that samples of these sizes can give: 2 / C(n1 + n2, n1). 1 where a side is empty.
double smallest_p(std::size_t old_n, std::size_t new_n);

/// A lower tail of U without ties: P(U < count) = probability.
struct Tail {
  std::uint64_t count = 0;  ///< At least 1.
  double probability = 0;
};
/// The longest tail of at most `probability`; nullopt when even U = 0 is likelier.
std::optional<Tail> widest_tail(std::size_t old_n, std::size_t new_n, double probability);

}  // namespace syscost::bench::stats
