// SPDX-License-Identifier: MIT
#include "stats/significance.h"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/binomial.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

namespace syscost::bench::stats {
namespace {

/// P(2 U = i) for each i; doubled, because a tie counts half.
using Distribution = std::vector<double>;

double ways(std::size_t n, std::size_t k) {
  return boost::math::binomial_coefficient<double>(static_cast<unsigned>(n), static_cast<unsigned>(k));
}

/// Deals out groups of equal values, smallest first. State: how many went to NEW so far, and 2 U so far. Each value
/// that goes to NEW beats every smaller one that went to OLD, and half-beats the equal ones that do.
Distribution deal(const std::vector<std::size_t>& group_sizes, std::size_t old_n, std::size_t new_n) {
  const std::size_t width = 2 * old_n * new_n + 1;
  std::vector<Distribution> states(new_n + 1, Distribution(width, 0.0));
  states[0][0] = 1;
  std::size_t dealt = 0;
  for (std::size_t size : group_sizes) {
    std::vector<Distribution> next(new_n + 1, Distribution(width, 0.0));
    for (std::size_t in_new = dealt > old_n ? dealt - old_n : 0; in_new <= std::min(dealt, new_n); ++in_new) {
      const std::size_t in_old = dealt - in_new;
      for (std::size_t taken = 0; taken <= size && in_new + taken <= new_n; ++taken) {
        if (in_old + (size - taken) > old_n) continue;
        const double factor = ways(size, taken);
        const std::size_t gain = 2 * taken * in_old + taken * (size - taken);
        const Distribution& from = states[in_new];
        Distribution& to = next[in_new + taken];
        for (std::size_t u = 0; u <= 2 * in_new * in_old; ++u) to[u + gain] += factor * from[u];
      }
    }
    states = std::move(next);
    dealt += size;
  }
  Distribution result = std::move(states[new_n]);
  const double total = std::accumulate(result.begin(), result.end(), 0.0);
  for (double& one : result) one /= total;
  return result;
}

/// The distribution without ties depends on the sizes alone, and one comparison asks for the same sizes all the time.
const Distribution& without_ties(std::size_t old_n, std::size_t new_n) {
  static std::mutex mutex;
  static std::map<std::pair<std::size_t, std::size_t>, Distribution> known;
  const std::lock_guard lock(mutex);
  auto [found, is_new] = known.try_emplace({old_n, new_n});
  if (is_new) found->second = deal(std::vector<std::size_t>(old_n + new_n, 1), old_n, new_n);
  return found->second;
}

struct Ranked {
  double u = 0;
  std::vector<std::size_t> group_sizes;  ///< Sizes of the groups of equal values, in ascending order of the values.

  bool has_ties() const {
    return std::any_of(group_sizes.begin(), group_sizes.end(), [](std::size_t size) { return size > 1; });
  }
};

Ranked rank(std::span<const double> old_values, std::span<const double> new_values) {
  std::vector<std::pair<double, bool>> pooled;
  pooled.reserve(old_values.size() + new_values.size());
  for (double value : old_values) pooled.emplace_back(value, false);
  for (double value : new_values) pooled.emplace_back(value, true);
  std::sort(pooled.begin(), pooled.end());
  Ranked result;
  std::size_t old_below = 0;
  for (std::size_t begin = 0; begin < pooled.size();) {
    std::size_t end = begin;
    std::size_t in_new = 0;
    for (; end < pooled.size() && pooled[end].first == pooled[begin].first; ++end) in_new += pooled[end].second ? 1 : 0;
    const std::size_t in_old = end - begin - in_new;
    result.u += static_cast<double>(in_new) * (static_cast<double>(old_below) + static_cast<double>(in_old) / 2);
    result.group_sizes.push_back(end - begin);
    old_below += in_old;
    begin = end;
  }
  return result;
}

double exact_p(const Distribution& distribution, double u) {
  const auto at = static_cast<std::ptrdiff_t>(std::llround(2 * u));
  const double lower = std::accumulate(distribution.begin(), distribution.begin() + at + 1, 0.0);
  const double upper = std::accumulate(distribution.begin() + at, distribution.end(), 0.0);
  return std::min(1.0, 2 * std::min(lower, upper));
}

double normal_p(const Ranked& ranked, double old_n, double new_n) {
  const double n = old_n + new_n;
  double tied = 0;
  for (std::size_t size : ranked.group_sizes) {
    const auto t = static_cast<double>(size);
    tied += t * (t * t - 1);
  }
  const double variance = old_n * new_n / 12 * ((n + 1) - tied / (n * (n - 1)));
  if (variance <= 0) return 1;  // every value is the same
  // U has steps of 1, and half a step belongs to the tail.
  const double distance = std::max(0.0, std::abs(ranked.u - old_n * new_n / 2) - 0.5);
  return 2 * boost::math::cdf(boost::math::complement(boost::math::normal(), distance / std::sqrt(variance)));
}

}  // namespace

RankTest rank_test(std::span<const double> old_values, std::span<const double> new_values) {
  const Ranked ranked = rank(old_values, new_values);
  const std::uint64_t pairs = std::uint64_t{old_values.size()} * new_values.size();
  RankTest result;
  result.u = ranked.u;
  if (!ranked.has_ties() && pairs <= kMostExactPairs) {
    result.p = exact_p(without_ties(old_values.size(), new_values.size()), ranked.u);
  } else if (pairs <= kMostExactPairsWithTies) {
    result.p = exact_p(deal(ranked.group_sizes, old_values.size(), new_values.size()), ranked.u);
  } else {
    result.p = normal_p(ranked, static_cast<double>(old_values.size()), static_cast<double>(new_values.size()));
    result.is_exact = false;
  }
  return result;
}

double smallest_p(std::size_t old_n, std::size_t new_n) {
  // 1 / C(n1 + n2, n1), a factor at a time: the binomial itself passes a double's range long before p matters.
  double p = 2;
  for (std::size_t i = 1; i <= old_n && p > 1e-300; ++i) p *= static_cast<double>(i) / static_cast<double>(new_n + i);
  return std::min(1.0, p);
}

std::optional<Tail> widest_tail(std::size_t old_n, std::size_t new_n, double probability) {
  const std::uint64_t pairs = std::uint64_t{old_n} * new_n;
  Tail tail;
  if (pairs <= kMostExactPairs) {
    const Distribution& distribution = without_ties(old_n, new_n);
    for (double sum = 0; tail.count < pairs / 2; tail.probability = sum) {
      sum += distribution[2 * tail.count];
      if (sum > probability) break;
      ++tail.count;
    }
  } else {
    const double mean = static_cast<double>(pairs) / 2;
    const double deviation = std::sqrt(static_cast<double>(pairs) * static_cast<double>(old_n + new_n + 1) / 12);
    const boost::math::normal unit;
    const double bound = mean - 0.5 + deviation * boost::math::quantile(unit, probability);
    tail.count = bound < 0 ? 0 : static_cast<std::uint64_t>(std::floor(bound)) + 1;
    tail.probability = boost::math::cdf(unit, (static_cast<double>(tail.count) - 0.5 - mean) / deviation);
  }
  return tail.count == 0 ? std::nullopt : std::optional(tail);
}

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

namespace {

/// Logarithms, ascending.
std::vector<double> sorted_logs(std::span<const double> values) {
  std::vector<double> logs(values.size());
  std::transform(values.begin(), values.end(), logs.begin(), [](double value) { return std::log(value); });
  std::sort(logs.begin(), logs.end());
  return logs;
}

/// All differences new_logs[j] - old_logs[i] by rank, without listing them.
class Differences {
 public:
  Differences(const std::vector<double>& old_logs, const std::vector<double>& new_logs)
      : old_(old_logs), new_(new_logs) {}

  std::uint64_t size() const { return std::uint64_t{old_.size()} * new_.size(); }

  /// The `rank`-th smallest, from 1: the smallest number that so many differences do not pass.
  double at(std::uint64_t rank) const {
    double low = new_.front() - old_.back();
    double high = new_.back() - old_.front();
    if (count_up_to(low) >= rank) return low;
    for (;;) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) return high;  // no number between them
      (count_up_to(middle) >= rank ? high : low) = middle;
    }
  }

 private:
  std::uint64_t count_up_to(double bound) const {
    std::uint64_t count = 0;
    std::size_t first = 0;  // old_[first..] are subtracted from new_[j] without passing the bound
    for (double one : new_) {
      while (first < old_.size() && one - old_[first] > bound) ++first;
      count += old_.size() - first;
    }
    return count;
  }

  const std::vector<double>& old_;
  const std::vector<double>& new_;
};

}  // namespace

double median_of(std::span<const double> sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : sorted[half - 1] + (sorted[half] - sorted[half - 1]) / 2;
}

MedianInterval median_interval(std::vector<double> values, double level) {
  std::sort(values.begin(), values.end());
  MedianInterval result{median_of(values), std::nullopt};
  const std::size_t n = values.size();
  const boost::math::binomial_distribution<double> below(static_cast<double>(n), 0.5);
  // values[rank] and its mirror image. The true median is outside if at most `rank` samples are on one side of it.
  for (std::size_t rank = 0; 2 * rank + 1 < n; ++rank) {
    const double attained = 1 - 2 * boost::math::cdf(below, static_cast<double>(rank));
    if (attained < level) break;
    result.interval = Interval{values[rank], values[n - 1 - rank], attained};
  }
  return result;
}

Ratio shift_ratio(std::span<const double> old_values, std::span<const double> new_values, double level) {
  const std::vector<double> old_logs = sorted_logs(old_values);
  const std::vector<double> new_logs = sorted_logs(new_values);
  const Differences differences(old_logs, new_logs);
  const std::uint64_t pairs = differences.size();
  Ratio result;
  const double upper = differences.at(pairs / 2 + 1);
  result.estimate = std::exp(pairs % 2 == 1 ? upper : (differences.at(pairs / 2) + upper) / 2);
  if (auto tail = widest_tail(old_values.size(), new_values.size(), (1 - level) / 2)) {
    result.interval = Interval{std::exp(differences.at(tail->count)), std::exp(differences.at(pairs + 1 - tail->count)),
                               1 - 2 * tail->probability};
  }
  return result;
}

InterimAnalysis first_look(std::size_t least, std::size_t tests, double alpha) {
  constexpr double kShares = 2;
  return {std::max(least, samples_needed(std::max<std::size_t>(tests, 1), alpha / kShares)), kShares};
}

InterimAnalysis next_look(const InterimAnalysis& last) {
  return {2 * last.rounds, 2 * last.shares};
}

}  // namespace syscost::bench::stats
