// SPDX-License-Identifier: MIT
#include "stats/fold.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/lists.h"

namespace syscost::bench::stats {
namespace {

using model::Measured;
using model::SyscallRow;
using model::Totals;

/// How often the body ran in the pass that was counted; 0 = unknown.
std::uint64_t counted_iterations(const Totals& totals) {
  return totals.counted_iterations.value_or(totals.iterations.value_or(0));
}

}  // namespace

std::vector<Series> series_of(const model::Dataset& data, const model::Group& group) {
  std::vector<std::pair<const SyscallRow*, std::size_t>> rows;
  for (std::size_t i = 0; i < group.samples.size(); ++i) {
    for (const SyscallRow& row : data.rows_of(group.samples[i])) rows.emplace_back(&row, i);
  }
  auto key = [](const auto& entry) { return std::tuple(entry.first->syscall, entry.first->detail, entry.second); };
  std::sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::vector<Series> all;
  for (const auto& [row, sample] : rows) {
    if (all.empty() || all.back().first->syscall != row->syscall || all.back().first->detail != row->detail) {
      all.push_back({row, std::vector<const SyscallRow*>(group.samples.size(), nullptr)});
    }
    all.back().by_sample[sample] = row;
  }
  return all;
}

bool has_measured(const model::Dataset& data, std::uint32_t sample, Measured SyscallRow::*field) {
  const Totals& totals = data.samples[sample].totals;
  Measured total;
  if (field == &SyscallRow::calls) total = totals.calls;
  if (field == &SyscallRow::entries) total = totals.entries;
  if (field == &SyscallRow::errors) total = totals.errors;
  if (field == &SyscallRow::latency_sum_ns || field == &SyscallRow::latency_count) total = totals.kernel_ns;
  if (total.has_value()) return true;
  const auto rows = data.rows_of(sample);
  return std::any_of(rows.begin(), rows.end(), [&](const SyscallRow& row) { return (row.*field).has_value(); });
}

Folder::Folder(const model::Dataset& data, const model::Group& group, bool per_iteration) : data_(data), group_(group) {
  divisors_.assign(group.samples.size(), 1.0);
  time_divisors_ = divisors_;
  bool can = true;
  for (std::uint32_t sample : group.samples) {
    const Totals& totals = data.samples[sample].totals;
    per_iteration = per_iteration || totals.counted_iterations.has_value();
    const bool can_divide_time = totals.iterations.value_or(0) > 0 || !totals.wall_ns.has_value();
    can = can && can_divide_time && counted_iterations(totals) > 0;
  }
  is_per_iteration_ = per_iteration && can;
  if (!is_per_iteration_) return;
  for (std::size_t i = 0; i < divisors_.size(); ++i) {
    const Totals& totals = data.samples[group.samples[i]].totals;
    divisors_[i] = static_cast<double>(counted_iterations(totals));
    time_divisors_[i] = static_cast<double>(totals.iterations.value_or(1));
  }
}

Numbers Folder::totals(Measured Totals::*field, const std::vector<double>& divisors) const {
  std::vector<double> values;
  for (std::size_t i = 0; i < group_.samples.size(); ++i) {
    const Measured& number = data_.samples[group_.samples[i]].totals.*field;
    if (!number.has_value()) return std::nullopt;
    values.push_back(static_cast<double>(*number) / (divisors.empty() ? 1.0 : divisors[i]));
  }
  return spread_of(std::move(values));
}

Numbers Folder::column(const Series& series, Measured SyscallRow::*field) const {
  std::vector<double> values;
  for (std::size_t i = 0; i < series.by_sample.size(); ++i) {
    const SyscallRow* row = series.by_sample[i];
    if (row == nullptr ? !measures(i, field) : !(row->*field).has_value()) return std::nullopt;
    values.push_back(row == nullptr ? 0.0 : static_cast<double>(*(row->*field)) / divisors_[i]);
  }
  return spread_of(std::move(values));
}

std::map<std::string, Spread, std::less<>> Folder::errnos(const Series& series) const {
  for (std::size_t i = 0; i < series.by_sample.size(); ++i) {
    if (series.by_sample[i] == nullptr && !measures(i, &SyscallRow::errors)) return {};
  }
  std::map<std::string, std::vector<double>, std::less<>> counts;
  for (std::size_t i = 0; i < series.by_sample.size(); ++i) {
    const SyscallRow* row = series.by_sample[i];
    if (row == nullptr || row->errnos == model::kNoName) continue;
    auto list = model::parse_errnos(data_.text(row->errnos));
    if (!list) continue;  // refused when it was loaded
    for (const auto& [name, count] : *list) {
      auto& values = counts.try_emplace(std::string(name), series.by_sample.size(), 0.0).first->second;
      values[i] += static_cast<double>(count) / divisors_[i];
    }
  }
  std::map<std::string, Spread, std::less<>> spreads;
  for (auto& [name, values] : counts) spreads.emplace(name, *spread_of(std::move(values)));
  return spreads;
}

}  // namespace syscost::bench::stats
