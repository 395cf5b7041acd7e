// SPDX-License-Identifier: MIT
#include "stats/change_points.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "stats/spread.h"

namespace syscost::bench::stats {
namespace {

constexpr std::size_t kOrders = 999;
constexpr double kLevel = 0.01;
/// Values on each side of a change: one that stands alone is an outlier.
constexpr std::size_t kLeastSide = 3;

/// Ranks from 1; of equal values the mean of theirs.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = static_cast<double>(begin + 1 + end) / 2;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = rank;
  }
  return ranks;
}

struct Split {
  std::size_t at = 0;
  double distance = 0;
};

/// Where the rank sums of the two sides are furthest from what they are expected to be.
Split furthest_split(const std::vector<double>& ranks) {
  const auto n = static_cast<double>(ranks.size());
  Split best;
  double sum = 0;
  for (std::size_t k = 1; k + kLeastSide <= ranks.size(); ++k) {
    sum += ranks[k - 1];
    if (k < kLeastSide) continue;
    const auto first = static_cast<double>(k);
    const double distance = std::abs(sum - first * (n + 1) / 2) / std::sqrt(first * (n - first) * (n + 1) / 12);
    if (distance > best.distance) best = {k, distance};
  }
  return best;
}

/// Adds where [begin, end) changes, from the first to the last.
void find_in(std::span<const double> values, std::size_t begin, std::size_t end, std::vector<std::size_t>& found) {
  if (end - begin < kLeastHistory) return;
  std::vector<double> ranks = ranks_of(values.subspan(begin, end - begin));
  const Split split = furthest_split(ranks);
  std::mt19937_64 random(1);
  std::size_t as_far = 0;
  for (std::size_t i = 0; i < kOrders; ++i) {
    // Not std::shuffle: what it does with a generator differs between libraries.
    for (std::size_t left = ranks.size(); left > 1; --left) std::swap(ranks[left - 1], ranks[random() % left]);
    constexpr double kRounding = 1e-9;
    if (furthest_split(ranks).distance >= split.distance - kRounding) ++as_far;
  }
  if (static_cast<double>(as_far + 1) > kLevel * static_cast<double>(kOrders + 1)) return;
  const std::size_t at = begin + split.at;
  find_in(values, begin, at, found);
  found.push_back(at);
  find_in(values, at, end, found);
}

double median_in(std::span<const double> values, std::size_t begin, std::size_t end) {
  return spread_of(
             {values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end)})
      ->median;
}

}  // namespace

std::vector<ChangePoint> change_points(std::span<const double> values, double threshold) {
  std::vector<std::size_t> found;
  find_in(values, 0, values.size(), found);
  std::vector<ChangePoint> changes;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : found[i - 1];
    const std::size_t end = i + 1 == found.size() ? values.size() : found[i + 1];
    const ChangePoint one{found[i], median_in(values, begin, found[i]), median_in(values, found[i], end)};
    if (std::abs(one.after - one.before) > threshold * one.before) changes.push_back(one);
  }
  return changes;
}

}  // namespace syscost::bench::stats
