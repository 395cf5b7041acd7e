// SPDX-License-Identifier: MIT
#include "stats/latency.h"

#include <fmt/format.h>
#include <boost/math/distributions/binomial.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "model/choice.h"
#include "model/row_parser.h"
#include "syscost/schema.h"

namespace syscost::bench::stats {
namespace {

using model::SyscallRow;

/// Adds the bound of a row that holds values.
template <class Choose>
void add_bound(std::optional<std::uint64_t>& bound, const model::Measured& number, bool is_first, Choose choose) {
  if (is_first) {
    bound = number.has_value() ? std::optional<std::uint64_t>(*number) : std::nullopt;
  } else {
    bound = bound && number.has_value() ? std::optional<std::uint64_t>(choose(*bound, *number)) : std::nullopt;
  }
}

void add_to(std::optional<std::uint64_t>& sum, const model::Measured& number) {
  std::uint64_t all = 0;
  const bool is_known = sum && number.has_value() && !__builtin_add_overflow(*sum, *number, &all);
  sum = is_known ? std::optional(all) : std::nullopt;
}

}  // namespace

std::string add_latency(const model::Dataset& data, const SyscallRow& row, Histogram& sum) {
  Histogram one;
  const std::string& text = data.text(row.histogram);
  if (!model::add_histogram_text(text, one)) {
    return fmt::format("column histogram holds \"{}\": `lower_ns:count ...` with bounds of buckets expected",
                       text.substr(0, 60));
  }
  std::uint64_t values = 0;
  for (std::size_t i = 0; i < kHistogramBuckets; ++i) values += one.bucket_count(i);
  if (values != *row.latency_count) {
    return fmt::format("column histogram holds {} values, latency_count says {}", values, *row.latency_count);
  }
  one.add_exact(*row.latency_count, *row.latency_sum_ns, row.latency_min_ns.value_or(0),
                row.latency_max_ns.value_or(0));
  sum.merge(one);
  return {};
}

std::vector<SyscallLatency> latencies_of(const model::Dataset& data, const model::Group& group,
                                         const model::SyscallChoice& choice, csv::Problems& problems) {
  std::map<std::pair<model::NameId, model::NameId>, SyscallLatency> by_name;
  for (std::uint32_t sample : group.samples) {
    for (const SyscallRow& row : data.rows_of(sample)) {
      if (!choice.matches(data.text(row.syscall), data.text(row.detail), data.text(row.classes))) continue;
      auto [found, is_new] = by_name.try_emplace({row.syscall, row.detail});
      SyscallLatency& out = found->second;
      if (is_new) {
        out.name = data.text(row.syscall);
        if (row.detail != model::kNoName) out.name += " " + data.text(row.detail);
        out.classes = data.text(row.classes);
        out.calls = 0;
        out.errors = 0;
        out.per_run_calls = 0;
        out.bytes = out.bytes_released = out.short_calls = out.altered = 0;
        out.is_timed = true;
        out.is_coarse = data.text(group.origin) != schema::kOriginSyscost;
      }
      add_to(out.calls, row.calls.has_value() ? row.calls : row.entries);
      out.counts_entries = out.counts_entries || !row.calls.has_value();
      add_to(out.errors, row.errors);
      add_to(out.per_run_calls, row.per_run_calls);
      add_to(out.bytes, row.bytes);
      add_to(out.bytes_released, row.bytes_released);
      add_to(out.short_calls, row.short_calls);
      add_to(out.altered, row.altered);
      if (!out.errors) {
        out.errnos.clear();  // the others alone are no sum
      } else if (auto errnos = model::parse_errnos(data.text(row.errnos))) {
        for (const auto& [name, count] : *errnos) out.errnos[std::string(name)] += count;
      }
      if (row.latency_count.value_or(0) > 0) {
        const bool is_first = out.latency.count() == 0;
        add_bound(out.min_ns, row.latency_min_ns, is_first, [](auto a, auto b) { return std::min(a, b); });
        add_bound(out.max_ns, row.latency_max_ns, is_first, [](auto a, auto b) { return std::max(a, b); });
      }
      if (!row.latency_count.has_value() || !row.latency_sum_ns.has_value()) {
        out.is_timed = false;
      } else if (std::string fault = add_latency(data, row, out.latency); !fault.empty()) {
        out.is_timed = false;
        problems.add(data.files[data.context(data.samples[sample]).file], row.line, std::move(fault));
      }
    }
  }
  std::vector<SyscallLatency> all;
  for (auto& [name, one] : by_name) all.push_back(std::move(one));
  std::sort(all.begin(), all.end(), [](const SyscallLatency& a, const SyscallLatency& b) {
    return std::tuple(b.latency.sum_ns(), b.calls.value_or(0), std::string_view(a.name)) <
           std::tuple(a.latency.sum_ns(), a.calls.value_or(0), std::string_view(b.name));
  });
  return all;
}

std::optional<std::uint64_t> percentile_ns(const Histogram& latency, double fraction) {
  // 1 - 0.9 is a little less than 0.1 in floating point. 100 values must still be enough.
  constexpr double kRounding = 1e-6;
  if (static_cast<double>(latency.count()) * (1 - fraction) + kRounding < 10) return std::nullopt;
  return latency.percentile_ns(fraction);
}

std::optional<std::uint64_t> percentile_ns(const SyscallLatency& one, double fraction) {
  return one.is_coarse ? std::nullopt : percentile_ns(one.latency, fraction);
}

std::vector<Bar> bars(const Histogram& latency, std::size_t first, std::size_t last, bool is_fine) {
  std::vector<Bar> out;
  auto power_of = [](std::uint64_t ns) { return ns == 0 ? 0 : 64 - __builtin_clzll(ns); };
  for (std::size_t i = first; i <= last; ++i) {
    const std::uint64_t lower_ns = histogram_lower_ns(i);
    if (is_fine || out.empty() || power_of(out.back().lower_ns) != power_of(lower_ns)) {
      // A coarse row begins at its power of two even when the first bucket drawn lies inside it.
      const std::uint64_t begin = is_fine || lower_ns == 0 ? lower_ns : std::uint64_t{1} << (power_of(lower_ns) - 1);
      out.push_back({begin, histogram_upper_ns(i), 0});
    }
    out.back().upper_ns = is_fine || lower_ns == 0 ? histogram_upper_ns(i) : out.back().lower_ns * 2;
    out.back().count += latency.bucket_count(i);
  }
  return out;
}

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
