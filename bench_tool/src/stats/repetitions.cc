// SPDX-License-Identifier: MIT
#include "stats/repetitions.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "model/row_parser.h"
#include "stats/processes.h"

namespace syscost::bench::stats {

std::optional<Spread> spread_of(std::vector<double> values) {
  return spread_in(values);
}

std::optional<Spread> spread_in(std::span<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  Spread spread;
  spread.n = values.size();
  spread.min = values.front();
  spread.max = values.back();
  const std::size_t half = values.size() / 2;
  spread.median = values.size() % 2 == 1 ? values[half] : values[half - 1] + (values[half] - values[half - 1]) / 2;
  return spread;
}

LeftByTurn left_by_turn(const model::Dataset& data, const model::Group& group, model::Measured model::Totals::*number) {
  std::map<Process, std::map<std::uint32_t, double>> left_in;  // of each process, by repetition
  for (const std::uint32_t index : group.samples) {
    const model::Sample& sample = data.samples[index];
    const model::Measured& left = sample.totals.*number;
    if (!left.has_value()) continue;
    left_in[process_of(data, index)].emplace(sample.repetition, static_cast<double>(*left));
  }
  LeftByTurn out;
  for (const auto& [process, turns] : left_in) {
    const double first = turns.begin()->second;
    if (turns.size() == 1) {
      out.unknown = std::max(out.unknown, first);
      continue;
    }
    double most = 0;
    for (auto later = std::next(turns.begin()); later != turns.end(); ++later) most = std::max(most, later->second);
    out.again = std::max(out.again, most);
    out.once = std::max(out.once, first - most);
  }
  if (out.unknown <= out.again + out.once) out.unknown = 0;
  return out;
}

namespace {

using model::Measured;
using model::SyscallRow;
using model::Totals;

/// How often the body ran in the pass that was counted; 0 = unknown.
std::uint64_t counted_iterations(const Totals& totals) {
  return totals.counted_iterations.value_or(totals.iterations.value_or(0));
}

/// True when every row has `field`: a syscall that was not made has none of it.
bool knows(const Series& series, Measured SyscallRow::*field) {
  return std::all_of(series.by_sample.begin(), series.by_sample.end(),
                     [&](const SyscallRow* row) { return row == nullptr || (row->*field).has_value(); });
}

}  // namespace

GroupRows::GroupRows(const model::RowStore& rows, const model::Group& group) {
  begins_.reserve(group.samples.size() + 1);
  for (const std::uint32_t sample : group.samples) {
    begins_.push_back(rows_.size());
    rows.of(sample, rows_);
  }
  begins_.push_back(rows_.size());
}

SeriesList::SeriesList(const GroupRows& of_group) {
  const std::size_t repetitions = of_group.repetitions();
  std::vector<std::pair<const SyscallRow*, std::size_t>> rows;
  for (std::size_t i = 0; i < repetitions; ++i) {
    for (const SyscallRow& row : of_group.of(i)) rows.emplace_back(&row, i);
  }
  const auto key = [](const auto& entry) {
    return std::tuple(entry.first->syscall, entry.first->detail, entry.second);
  };
  std::sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  const auto is_other = [](const SyscallRow* a, const SyscallRow* b) {
    return a->syscall != b->syscall || a->detail != b->detail;
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || is_other(rows[i - 1].first, rows[i].first)) all_.push_back({rows[i].first, {}});
  }
  rows_.assign(all_.size() * repetitions, nullptr);
  std::size_t at = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i != 0 && is_other(rows[i - 1].first, rows[i].first)) ++at;
    rows_[at * repetitions + rows[i].second] = rows[i].first;
  }
  for (std::size_t i = 0; i < all_.size(); ++i) {
    Series& series = all_[i];
    series.by_sample = {rows_.data() + i * repetitions, repetitions};
    series.knows_per_run_calls = knows(series, &SyscallRow::per_run_calls);
    series.knows_per_run_errors = knows(series, &SyscallRow::per_run_errors);
    series.knows_per_run_bytes = knows(series, &SyscallRow::per_run_bytes);
  }
}

RepetitionAggregator::RepetitionAggregator(const model::Dataset& data, const model::Group& group, const GroupRows& rows,
                                           bool per_iteration)
    : data_(data), group_(group), rows_(rows) {
  divisors_.assign(group.samples.size(), 1.0);
  time_divisors_ = divisors_;
  const auto filter_of = [&](std::uint32_t sample) { return data.context(data.samples[sample]).filter; };
  bool can = true;
  for (std::uint32_t sample : group.samples) {
    has_several_filters_ = has_several_filters_ || filter_of(sample) != filter_of(group.samples.front());
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

bool RepetitionAggregator::measures(std::size_t i, Measured SyscallRow::*field) const {
  const Totals& totals = data_.samples[group_.samples[i]].totals;
  Measured total;
  if (field == &SyscallRow::calls) total = totals.calls;
  if (field == &SyscallRow::entries) total = totals.entries;
  if (field == &SyscallRow::errors) total = totals.errors;
  if (field == &SyscallRow::latency_sum_ns || field == &SyscallRow::latency_count) total = totals.kernel_ns;
  // A backend that knows bytes has at least one of these.
  if (field == &SyscallRow::bytes || field == &SyscallRow::bytes_released || field == &SyscallRow::short_calls) {
    total = totals.bytes_mapped.has_value() ? totals.bytes_mapped : totals.bytes_read;
  }
  if (total.has_value()) return true;
  const auto rows = rows_.of(i);
  return std::any_of(rows.begin(), rows.end(), [&](const SyscallRow& row) { return (row.*field).has_value(); });
}

bool RepetitionAggregator::knows_none(std::size_t i, Measured SyscallRow::*field) const {
  const bool may_leave_out =
      has_several_filters_ && data_.context(data_.samples[group_.samples[i]]).filter != model::kNoName;
  return !may_leave_out && measures(i, field);
}

Numbers RepetitionAggregator::totals(Measured Totals::*field, const std::vector<double>& divisors) const {
  values_.clear();
  for (std::size_t i = 0; i < group_.samples.size(); ++i) {
    const Measured& number = data_.samples[group_.samples[i]].totals.*field;
    if (!number.has_value()) return std::nullopt;
    values_.push_back(static_cast<double>(*number) / (divisors.empty() ? 1.0 : divisors[i]));
  }
  return spread_in(values_);
}

Numbers RepetitionAggregator::where_known(Measured Totals::*field) const {
  values_.clear();
  for (const std::size_t sample : group_.samples) {
    const Measured& number = data_.samples[sample].totals.*field;
    if (number.has_value()) values_.push_back(static_cast<double>(*number));
  }
  return values_.empty() ? std::nullopt : spread_in(values_);
}

Numbers RepetitionAggregator::counts(Measured Totals::*field, const SeriesList& all,
                                     Measured SyscallRow::*per_run_field) const {
  values_.clear();
  for (std::size_t i = 0; i < group_.samples.size(); ++i) {
    const Measured& number = data_.samples[group_.samples[i]].totals.*field;
    if (!number.has_value()) return std::nullopt;
    std::uint64_t per_run = 0;
    for (const Series& series : all) {
      const bool tells =
          per_run_field == &SyscallRow::per_run_calls ? tells_per_run_calls(series) : tells_per_run_errors(series);
      if (tells && series.by_sample[i] != nullptr) per_run += *(series.by_sample[i]->*per_run_field);
    }
    // Rows that contradict their total are reported as missing ones.
    values_.push_back(static_cast<double>(*number - std::min(*number, per_run)) / divisors_[i]);
  }
  return spread_in(values_);
}

double RepetitionAggregator::value(const Series& series, std::size_t i, Measured SyscallRow::*field,
                                   PerRunCalls per_run) const {
  const SyscallRow& row = *series.by_sample[i];
  const auto number = static_cast<double>(*(row.*field));
  const double divisor = divisors_[i];
  if (per_run == PerRunCalls::spread || !tells_per_run_calls(series)) return number / divisor;
  const auto per_run_calls = static_cast<double>(*row.per_run_calls);
  if (field == &SyscallRow::calls || field == &SyscallRow::entries) return (number - per_run_calls) / divisor;
  if (field == &SyscallRow::errors) {
    return (number - (tells_per_run_errors(series) ? static_cast<double>(*row.per_run_errors) : 0)) / divisor;
  }
  if (field == &SyscallRow::latency_sum_ns || field == &SyscallRow::latency_count) {
    const auto calls = static_cast<double>((row.calls.has_value() ? row.calls : row.entries).value_or(0));
    return calls > 0 ? number * ((calls - per_run_calls) / calls) / divisor : number / divisor;
  }
  if (field == &SyscallRow::bytes && series.knows_per_run_bytes) {
    return (number - static_cast<double>(std::min(*row.per_run_bytes, *row.bytes))) / divisor;
  }
  return number / divisor;
}

Numbers RepetitionAggregator::column(const Series& series, Measured SyscallRow::*field, PerRunCalls per_run) const {
  values_.clear();
  for (std::size_t i = 0; i < series.by_sample.size(); ++i) {
    const SyscallRow* row = series.by_sample[i];
    if (row == nullptr ? !knows_none(i, field) : !(row->*field).has_value()) return std::nullopt;
    values_.push_back(row == nullptr ? 0.0 : value(series, i, field, per_run));
  }
  return spread_in(values_);
}

Numbers RepetitionAggregator::timely_calls(const Series& series, PerRunCalls per_run) const {
  const std::string_view syscall = data_.text(series.first->syscall);
  values_.clear();
  for (std::size_t i = 0; i < series.by_sample.size(); ++i) {
    const SyscallRow* row = series.by_sample[i];
    if (row == nullptr ? !knows_none(i, &SyscallRow::calls) : !row->calls.has_value()) return std::nullopt;
    double count = row == nullptr ? 0.0 : value(series, i, &SyscallRow::calls, per_run);
    if (row != nullptr && row->errnos != model::kNoName) {
      const auto errnos = model::parse_errnos(data_.text(row->errnos));
      if (!errnos) return std::nullopt;  // refused when it was loaded
      for (const auto& [name, failures] : *errnos) {
        if (is_too_early(syscall, name)) count -= static_cast<double>(failures) / divisors_[i];
      }
    }
    values_.push_back(std::max(count, 0.0));
  }
  return spread_in(values_);
}

Numbers RepetitionAggregator::per_run(const Series& series, Measured SyscallRow::*field) const {
  values_.clear();
  for (const SyscallRow* row : series.by_sample) {
    values_.push_back(row == nullptr ? 0.0 : static_cast<double>(*(row->*field)));
  }
  return spread_in(values_);
}

bool RepetitionAggregator::knows_errnos(const Series& series) const {
  for (std::size_t i = 0; i < series.by_sample.size(); ++i) {
    const SyscallRow* row = series.by_sample[i];
    if (row == nullptr ? !knows_none(i, &SyscallRow::errors) : !row->errors.has_value()) return false;
    // A tool may count failures without their errnos.
    if (row != nullptr && *row->errors > 0 && row->errnos == model::kNoName) return false;
  }
  return true;
}

std::optional<ErrnoNumbers> RepetitionAggregator::errnos(const Series& series, PerRunCalls per_run) const {
  if (!knows_errnos(series)) return std::nullopt;
  const bool leaves_out = per_run == PerRunCalls::left_out && tells_per_run_errors(series);
  return errno_numbers(series, &SyscallRow::errnos, true, leaves_out ? &SyscallRow::per_run_errnos : nullptr);
}

ErrnoNumbers RepetitionAggregator::per_run_errnos(const Series& series) const {
  return errno_numbers(series, &SyscallRow::per_run_errnos, false, nullptr);
}

ErrnoNumbers RepetitionAggregator::errno_numbers(const Series& series, model::NameId SyscallRow::*list,
                                                 bool is_per_iteration, model::NameId SyscallRow::*less) const {
  std::map<std::string, std::vector<double>, std::less<>> counts;
  for (std::size_t i = 0; i < series.by_sample.size(); ++i) {
    const SyscallRow* row = series.by_sample[i];
    if (row == nullptr) continue;
    auto add = [&](model::NameId SyscallRow::*names, double sign) {
      if (row->*names == model::kNoName) return;
      const auto parsed = model::parse_errnos(data_.text(row->*names));
      if (!parsed) return;  // refused when it was loaded
      for (const auto& [name, count] : *parsed) {
        auto& values = counts.try_emplace(std::string(name), series.by_sample.size(), 0.0).first->second;
        values[i] += sign * static_cast<double>(count);
      }
    };
    add(list, 1);
    if (less != nullptr) add(less, -1);
  }
  ErrnoNumbers spreads;
  for (auto& [name, values] : counts) {
    for (std::size_t i = 0; is_per_iteration && i < values.size(); ++i) values[i] /= divisors_[i];
    spreads.emplace(name, *spread_of(std::move(values)));
  }
  return spreads;
}

bool is_too_early(std::string_view syscall, std::string_view errno_name) {
  static constexpr std::string_view kErrnos[] = {"EAGAIN", "EALREADY", "EINPROGRESS", "EINTR", "ETIMEDOUT"};
  // For a lock, any other errno is the answer.
  if (syscall == "flock" || syscall == "fcntl") return errno_name == "EINTR";
  return std::find(std::begin(kErrnos), std::end(kErrnos), errno_name) != std::end(kErrnos);
}

}  // namespace syscost::bench::stats
