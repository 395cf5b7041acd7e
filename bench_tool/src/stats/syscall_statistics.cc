// SPDX-License-Identifier: MIT
#include "stats/syscall_statistics.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "model/syscall_choice.h"
#include "stats/latency.h"
#include "syscost/schema.h"

namespace syscost::bench::stats {
namespace {

/// The bucket of the `rank`-th smallest latency, from 1.
std::size_t bucket_of_rank(const Histogram& latency, std::uint64_t rank) {
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kHistogramBuckets; ++i) {
    seen += latency.bucket_count(i);
    if (seen >= rank) return i;
  }
  return kHistogramBuckets - 1;
}

/// A bucket ends 1 ns before the next one begins; the last one has no end.
double low_of(const Histogram& latency, std::size_t bucket) {
  return static_cast<double>(std::max(histogram_lower_ns(bucket), latency.min_ns()));
}

double high_of(const Histogram& latency, std::size_t bucket) {
  if (bucket + 1 == kHistogramBuckets) return static_cast<double>(latency.max_ns());
  return static_cast<double>(std::min(histogram_upper_ns(bucket) - 1, latency.max_ns()));
}

}  // namespace

Percentile percentile_of(const Histogram& latency, double fraction) {
  const auto n = static_cast<double>(latency.count());
  // 0.07 * 100 is a little more than 7 in floating point.
  constexpr double kRounding = 1e-9;
  const auto rank = static_cast<std::uint64_t>(std::clamp(std::ceil(fraction * n - kRounding), 1.0, n));
  const std::size_t bucket = bucket_of_rank(latency, rank);
  Percentile result{fraction, low_of(latency, bucket), high_of(latency, bucket), std::nullopt};
  // The number of calls below the true percentile is binomial. The l-th smallest is above it if fewer than l are below,
  // and the u-th smallest is below it if u or more are.
  const boost::math::binomial_distribution<double> below(n, fraction);
  const double tail = (1 - kPercentileLevel) / 2;
  const auto at_most = [&](double k) { return k < 0 ? 0.0 : boost::math::cdf(below, k); };
  // quantile() rounds to whole numbers in a way of its own; the ranks are moved to where the tails are small enough.
  double l = std::floor(n * fraction - 3 * std::sqrt(n * fraction * (1 - fraction)) - 1);
  l = std::max(l, 0.0);
  while (l + 1 <= n && at_most(l) <= tail) ++l;
  double u = std::ceil(n * fraction + 3 * std::sqrt(n * fraction * (1 - fraction)) + 1);
  u = std::min(u, n + 1);
  while (u - 1 > 0 && 1 - at_most(u - 2) <= tail) --u;
  if (l < 1 || u > n) return result;
  const double level = at_most(u - 1) - at_most(l - 1);
  if (level < kPercentileLevel) return result;
  result.interval = Interval{low_of(latency, bucket_of_rank(latency, static_cast<std::uint64_t>(l))),
                             high_of(latency, bucket_of_rank(latency, static_cast<std::uint64_t>(u))), level};
  return result;
}

Deviation deviation_of(const Histogram& latency) {
  const auto n = static_cast<double>(latency.count());
  double sum = 0;
  for (std::size_t i = 0; i < kHistogramBuckets; ++i) {
    if (latency.bucket_count(i) == 0) continue;
    sum += static_cast<double>(latency.bucket_count(i)) * (low_of(latency, i) + high_of(latency, i)) / 2;
  }
  const double mean = sum / n;
  double squares = 0;
  double halves = 0;
  for (std::size_t i = 0; i < kHistogramBuckets; ++i) {
    if (latency.bucket_count(i) == 0) continue;
    const auto count = static_cast<double>(latency.bucket_count(i));
    const double low = low_of(latency, i);
    const double high = high_of(latency, i);
    squares += count * std::pow((low + high) / 2 - mean, 2);
    halves += count * std::pow((high - low) / 2, 2);
  }
  const double deviation = std::sqrt(squares / n);
  const double error = std::sqrt(halves / n);
  return {std::max(0.0, deviation - error), deviation + error};
}

std::vector<SyscallStatistics> syscall_statistics(const model::Dataset& data, const std::vector<model::Group>& groups,
                                                  csv::Problems& problems) {
  std::string fault;
  const model::SyscallChoice all = *model::SyscallChoice::parse("", fault);
  std::map<std::string, SyscallStatistics> by_name;
  for (const model::Group& group : groups) {
    if (!group.is_test(data) || data.text(group.origin) != schema::kOriginSyscost) continue;
    for (const SyscallLatency& one : latencies_of(data, group, all, problems)) {
      auto [found, is_new] = by_name.try_emplace(one.name);
      SyscallStatistics& sum = found->second;
      if (is_new) {
        sum.name = one.name;
        sum.classes = one.classes;
        sum.calls = 0;
      }
      ++sum.tests;
      sum.calls = sum.calls && one.calls ? std::optional(*sum.calls + *one.calls) : std::nullopt;
      sum.is_timed = sum.is_timed && one.is_timed;
      sum.latency.merge(one.latency);
    }
  }
  std::vector<SyscallStatistics> list;
  for (auto& [name, one] : by_name) list.push_back(std::move(one));
  std::stable_sort(list.begin(), list.end(), [](const SyscallStatistics& a, const SyscallStatistics& b) {
    return std::tuple(b.latency.sum_ns(), b.calls.value_or(0)) < std::tuple(a.latency.sum_ns(), a.calls.value_or(0));
  });
  return list;
}

}  // namespace syscost::bench::stats
