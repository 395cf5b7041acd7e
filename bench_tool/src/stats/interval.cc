// SPDX-License-Identifier: MIT
#include "stats/interval.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstdint>

#include "stats/rank_test.h"

namespace syscost::bench::stats {
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

}  // namespace syscost::bench::stats
