// SPDX-License-Identifier: MIT
#include "stats/watched_series.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "model/row_parser.h"
#include "syscost/schema.h"

namespace syscost::bench::stats {
namespace {

constexpr double kLow = 6;
constexpr double kMedium = 10;
constexpr double kHigh = 20;
/// The standard deviation of a normal distribution, divided by its median absolute deviation.
constexpr double kDeviationOfNormal = 1.4826;

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double least_scale(double median, Measure measure) {
  return measure == Measure::count ? std::max(1.0, std::sqrt(median)) : median / 20;
}

}  // namespace

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::low:
      return "low";
    case Severity::medium:
      return "medium";
    case Severity::high:
      return "high";
  }
  return {};
}

std::optional<Unusual> judge_unusual(double value, std::span<const double> before, Measure measure) {
  if (before.size() < kLeastBefore) return std::nullopt;
  const auto [lowest, highest] = std::minmax_element(before.begin(), before.end());
  if (value >= *lowest && value <= *highest) return std::nullopt;
  std::vector<double> values(before.begin(), before.end());
  const double median = median_of(values);
  for (double& one : values) one = std::abs(one - median);
  const double scale = std::max(kDeviationOfNormal * median_of(values), least_scale(median, measure));
  if (!(scale > 0)) return std::nullopt;
  const double z = (value - median) / scale;
  const double size = std::abs(z);
  if (!(size >= kLow)) return std::nullopt;
  return Unusual{size >= kHigh ? Severity::high : size >= kMedium ? Severity::medium : Severity::low, median, z};
}

namespace {

constexpr double kMinute = 60;
constexpr std::size_t kMostIntervals = 600;  // of 100 ms, the shortest that are written
constexpr std::size_t kLeastIntervals = 30;  // of intervals over two seconds
/// A mean of fewer calls says little about the time of a call.
constexpr double kLeastCalls = 20;
constexpr double kNsPerSecond = 1e9;

/// One of the two is measured.
double number_of(const model::Measured& calls, const model::Measured& entries) {
  return static_cast<double>(calls.has_value() ? *calls : *entries);
}

std::optional<double> optional_of(const model::Measured& number) {
  return number.has_value() ? std::optional(static_cast<double>(*number)) : std::nullopt;
}

void add(std::optional<double>& sum, const std::optional<double>& more) {
  sum = sum && more ? std::optional(*sum + *more) : std::nullopt;
}

WatchedInterval interval_of(const model::Dataset& data, std::uint32_t index) {
  const model::Sample& sample = data.samples[index];
  WatchedInterval interval;
  interval.number = sample.repetition;
  interval.seconds = static_cast<double>(sample.totals.wall_ns.value_or(0)) / kNsPerSecond;
  interval.has_losses = sample.totals.late.value_or(0) + sample.totals.lost.value_or(0) > 0;
  interval.sample = index;
  const model::Measured& all = sample.totals.calls.has_value() ? sample.totals.calls : sample.totals.entries;
  std::uint64_t in_rows = 0;
  for (const model::SyscallRow& row : data.rows_of(index)) {
    if (!row.calls.has_value() && !row.entries.has_value()) continue;  // not counted, which is not 0
    in_rows += sample.totals.calls.has_value() ? row.calls.value_or(0) : row.entries.value_or(0);
    const auto [found, is_new] = interval.by_syscall.try_emplace(data.text(row.syscall));
    IntervalCalls& calls = found->second;
    calls.calls += number_of(row.calls, row.entries);
    calls.sample = index;
    calls.is_wait = model::has_class(data.text(row.classes), "wait");
    if (is_new) {
      calls.errors = optional_of(row.errors);
      calls.kernel_ns = optional_of(row.latency_sum_ns);
    } else {
      add(calls.errors, optional_of(row.errors));
      add(calls.kernel_ns, optional_of(row.latency_sum_ns));
    }
  }
  interval.is_whole = all.has_value() && in_rows == *all;
  return interval;
}

/// The value of one interval, brought to `seconds`; none where it was not measured.
std::optional<double> value_of(const WatchedInterval& interval, const std::string& syscall, Watched what,
                               double seconds) {
  const auto found = interval.by_syscall.find(syscall);
  if (found == interval.by_syscall.end()) {
    return what == Watched::time_per_call || !interval.is_whole ? std::nullopt : std::optional(0.0);
  }
  const IntervalCalls& calls = found->second;
  switch (what) {
    case Watched::calls:
      return calls.calls * seconds / interval.seconds;
    case Watched::errors:
      return calls.errors ? std::optional(*calls.errors * seconds / interval.seconds) : std::nullopt;
    case Watched::time_per_call:
      // A wait takes as long as there is nothing to do.
      if (calls.is_wait || calls.calls < kLeastCalls || !calls.kernel_ns) return std::nullopt;
      return *calls.kernel_ns / calls.calls;
  }
  return std::nullopt;
}

}  // namespace

std::vector<WatchedInterval> intervals_of(const model::Dataset& data, std::string& command) {
  const model::Sample* newest = nullptr;
  for (const model::Sample& sample : data.samples) {
    if (data.text(sample.kind) != schema::kKindInterval) continue;
    if (newest == nullptr ||
        data.text(data.context(sample).started_at) >= data.text(data.context(*newest).started_at)) {
      newest = &sample;
    }
  }
  std::vector<WatchedInterval> intervals;
  if (newest == nullptr) return intervals;
  command = data.text(newest->test);
  for (std::uint32_t i = 0; i < data.samples.size(); ++i) {
    const model::Sample& sample = data.samples[i];
    if (sample.kind != newest->kind || sample.context != newest->context || sample.test != newest->test) continue;
    if (WatchedInterval one = interval_of(data, i); one.seconds > 0) intervals.push_back(std::move(one));
  }
  std::sort(intervals.begin(), intervals.end(),
            [](const WatchedInterval& a, const WatchedInterval& b) { return a.number < b.number; });
  for (std::size_t i = 1; i < intervals.size(); ++i) {
    intervals[i].begin_s = intervals[i - 1].begin_s + intervals[i - 1].seconds;
  }
  return intervals;
}

std::size_t first_of_minute(const std::vector<WatchedInterval>& intervals, std::size_t at) {
  double seconds = 0;
  std::size_t first = at;
  while (first > 0 && at - first < kMostIntervals &&
         (seconds + intervals[first - 1].seconds <= kMinute * 1.01 || at - first < kLeastIntervals)) {
    seconds += intervals[--first].seconds;
  }
  return first;
}

std::vector<Finding> findings_in(const std::vector<WatchedInterval>& intervals, std::size_t at) {
  std::vector<Finding> findings;
  const WatchedInterval& now = intervals[at];
  const std::size_t first = first_of_minute(intervals, at);
  if (at - first < kLeastBefore || now.seconds < intervals[at - 1].seconds / 2) return findings;
  std::set<std::string> syscalls;
  for (std::size_t i = first; i <= at; ++i) {
    for (const auto& [name, calls] : intervals[i].by_syscall) syscalls.insert(name);
  }
  for (const std::string& syscall : syscalls) {
    for (const Watched what : {Watched::calls, Watched::errors, Watched::time_per_call}) {
      const std::optional<double> value = value_of(now, syscall, what, now.seconds);
      if (!value) continue;
      std::vector<double> before;
      for (std::size_t i = first; i < at; ++i) {
        if (const auto one = value_of(intervals[i], syscall, what, now.seconds)) before.push_back(*one);
      }
      const Measure measure = what == Watched::time_per_call ? Measure::duration : Measure::count;
      if (const auto unusual = judge_unusual(*value, before, measure)) {
        findings.push_back({at, syscall, what, *value, *unusual});
      }
    }
  }
  std::sort(findings.begin(), findings.end(),
            [](const Finding& a, const Finding& b) { return std::abs(a.unusual.z) > std::abs(b.unusual.z); });
  return findings;
}

}  // namespace syscost::bench::stats
