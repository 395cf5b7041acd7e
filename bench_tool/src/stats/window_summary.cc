// SPDX-License-Identifier: MIT
#include "stats/window_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "model/row_parser.h"
#include "stats/processes.h"

namespace syscost::bench::stats {
namespace {

using model::Measured;
using model::SyscallRow;
using model::Totals;

/// A sum that is too large is the largest number.
std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t all = 0;
  return __builtin_add_overflow(a, b, &all) ? std::numeric_limits<std::uint64_t>::max() : all;
}

std::optional<std::uint64_t> sum(const Series& series, Measured SyscallRow::*field) {
  std::uint64_t total = 0;
  for (const SyscallRow* row : series.by_sample) {
    if (row == nullptr) continue;
    if (!(row->*field).has_value()) return std::nullopt;
    total = sum(total, *(row->*field));
  }
  return total;
}

/// What is known to be lost. nullopt if nothing is known of any repetition.
std::optional<std::uint64_t> losses(const model::Dataset& data, const model::Group& group,
                                    Measured model::Losses::*field) {
  std::optional<std::uint64_t> total;
  for (const std::uint32_t index : group.samples) {
    const model::Sample& sample = data.samples[index];
    for (const Measured& number :
         {model::Losses{sample.totals.late, sample.totals.lost}.*field, sample.around.*field}) {
      if (number.has_value()) total = sum(total.value_or(0), *number);
    }
  }
  return total;
}

/// True when rows of the sample are missing: no `test` row, or the `syscall` rows do not add up to its totals.
bool is_incomplete(const model::Dataset& data, std::uint32_t sample, std::span<const SyscallRow> rows) {
  const Totals& totals = data.samples[sample].totals;
  if (data.samples[sample].totals_line == 0) return true;
  const bool has_calls = totals.calls.has_value();
  const Measured& total = has_calls ? totals.calls : totals.entries;
  if (!total.has_value()) return false;
  std::uint64_t found = 0;
  for (const SyscallRow& row : rows) found += (has_calls ? row.calls : row.entries).value_or(0);
  return found != *total;
}

/// One number for each repetition; nullopt if no row has the column. A syscall that was not made has 0.
Numbers altered_of(const Series& series) {
  std::vector<double> values;
  bool is_known = false;
  for (const SyscallRow* row : series.by_sample) {
    is_known = is_known || (row != nullptr && row->altered.has_value());
    values.push_back(row != nullptr ? static_cast<double>(row->altered.value_or(0)) : 0.0);
  }
  return is_known ? spread_of(std::move(values)) : std::nullopt;
}

std::optional<std::uint64_t> altered_in(const SeriesList& all) {
  std::optional<std::uint64_t> total;
  for (const Series& series : all) {
    for (const SyscallRow* row : series.by_sample) {
      if (row != nullptr && row->altered.has_value()) total = total.value_or(0) + *row->altered;
    }
  }
  return total;
}

CallFigures figures_of(const Series& series, const RepetitionAggregator& fold, PerRunCalls per_run) {
  CallFigures out;
  out.calls = fold.column(series, &SyscallRow::calls, per_run);
  out.entries = fold.column(series, &SyscallRow::entries, per_run);
  out.errors = fold.column(series, &SyscallRow::errors, per_run);
  out.timely = fold.timely_calls(series, per_run);
  out.kernel_ns = fold.column(series, &SyscallRow::latency_sum_ns, per_run);
  out.latency_count = fold.column(series, &SyscallRow::latency_count, per_run);
  out.errnos = fold.errnos(series, per_run);
  return out;
}

std::optional<bool> has_other_threads(const SeriesList& all) {
  bool has = false;
  for (const Series& series : all) {
    for (const SyscallRow* row : series.by_sample) {
      if (row == nullptr) continue;
      if (!row->by_started_threads.has_value() || !row->by_older_threads.has_value()) return std::nullopt;
      has = has || *row->by_started_threads + *row->by_older_threads > 0;
    }
  }
  return has;
}

bool opens_kernel_files(const SeriesList& all) {
  return std::any_of(all.begin(), all.end(), [](const Series& series) {
    return std::any_of(series.by_sample.begin(), series.by_sample.end(),
                       [](const SyscallRow* row) { return row != nullptr && row->kernel_files.value_or(0) > 0; });
  });
}

bool is_open(std::string_view syscall) {
  constexpr std::string_view kOpens[] = {"open", "openat", "openat2"};
  const std::size_t abi = syscall.find(':');  // i386:open
  const std::string_view name = syscall.substr(abi == std::string_view::npos ? 0 : abi + 1);
  return std::find(std::begin(kOpens), std::end(kOpens), name) != std::end(kOpens);
}

Numbers count_sync_opens(const model::Dataset& data, const SeriesList& all, const RepetitionAggregator& fold,
                         std::size_t repetitions) {
  std::vector<double> opens(repetitions, 0.0);
  for (std::size_t i = 0; i < repetitions; ++i) {
    if (!fold.measures(i, &SyscallRow::calls)) return std::nullopt;
    for (const Series& series : all) {
      const SyscallRow* row = series.by_sample[i];
      if (row == nullptr || !is_open(data.text(series.first->syscall))) continue;
      if (!row->sync_opens.has_value()) return std::nullopt;
      opens[i] += static_cast<double>(*row->sync_opens);
    }
  }
  return spread_of(std::move(opens));
}

SyscallSummary summarize_syscall(const model::Dataset& data, const Series& series, const RepetitionAggregator& fold) {
  SyscallSummary out;
  out.name = data.text(series.first->syscall);
  if (series.first->detail != model::kNoName) out.name += " " + data.text(series.first->detail);
  out.classes = data.text(series.first->classes);
  out.is_wait = model::has_class(out.classes, "wait");
  static_cast<CallFigures&>(out) = figures_of(series, fold, PerRunCalls::left_out);
  if (fold.tells_per_run_calls(series)) {
    out.spread = figures_of(series, fold, PerRunCalls::spread);
    out.per_run_calls = fold.per_run(series, &SyscallRow::per_run_calls);
  }
  if (fold.tells_per_run_errors(series)) {
    out.per_run_errors = fold.per_run(series, &SyscallRow::per_run_errors);
    out.per_run_errnos = fold.per_run_errnos(series);
  }
  out.bytes = fold.column(series, &SyscallRow::bytes);
  out.bytes_released = fold.column(series, &SyscallRow::bytes_released);
  out.short_calls = fold.column(series, &SyscallRow::short_calls);
  out.altered = altered_of(series);
  out.restarts = sum(series, &SyscallRow::restarts);
  out.in_flight = sum(series, &SyscallRow::in_flight);
  out.no_return = sum(series, &SyscallRow::no_return);
  out.carried_in = sum(series, &SyscallRow::carried_in);
  out.denied = sum(series, &SyscallRow::denied);
  return out;
}

/// Fills in what the processor times are judged by.
void add_cpu_times(const model::Dataset& data, const model::Group& group, WindowSummary& out) {
  std::map<Process, std::vector<double>> by_process;
  CpuSamples cpu;
  cpu.least_ns = Measured::kLargest;
  for (std::uint32_t index : group.samples) {
    const model::Sample& sample = data.samples[index];
    const Measured total_ns = sample.totals.processor_ns();
    if (!total_ns.has_value() || (out.is_per_iteration && sample.totals.iterations.value_or(0) == 0)) return;
    cpu.step_ns = std::gcd(cpu.step_ns, sample.totals.cpu_ns.has_value() ? 1 : *total_ns);
    cpu.least_ns = std::min(cpu.least_ns, *total_ns);
    const double passes = out.is_per_iteration ? static_cast<double>(*sample.totals.iterations) : 1.0;
    cpu.times_ns.push_back(static_cast<double>(*total_ns) / passes);
    by_process[process_of(data, index)].push_back(cpu.times_ns.back());
  }
  for (auto& [process, times] : by_process) cpu.process_times_ns.push_back(spread_of(std::move(times))->median);
  out.cpu_ns = spread_of(cpu.times_ns);
  out.cpu = std::move(cpu);
}

/// Fills in what the wall times are judged by.
void add_times(const model::Dataset& data, const model::Group& group, WindowSummary& out) {
  std::map<Process, std::vector<double>> by_process;
  for (std::uint32_t index : group.samples) {
    const model::Sample& sample = data.samples[index];
    const model::Context& context = data.context(sample);
    out.is_plain = out.is_plain || context.is_plain;
    if (!sample.totals.wall_ns.has_value()) {
      out.times_ns.clear();
      return;
    }
    const double passes = out.is_per_iteration ? static_cast<double>(*sample.totals.iterations) : 1.0;
    out.times_ns.push_back(static_cast<double>(*sample.totals.wall_ns) / passes);
    by_process[process_of(data, index)].push_back(out.times_ns.back());
  }
  for (auto& [process, times] : by_process) out.process_times_ns.push_back(spread_of(std::move(times))->median);
}

/// A column per repetition, added over the syscalls that are (or are not) waits; nullopt when one lacks it.
Numbers total_of(const SeriesList& all, const std::vector<SyscallSummary>& summaries, const RepetitionAggregator& fold,
                 std::size_t repetitions, bool waits, Measured SyscallRow::*field) {
  std::vector<double> values(repetitions, 0.0);
  for (std::size_t i = 0; i < repetitions; ++i) {
    if (!fold.measures(i, field)) return std::nullopt;
  }
  for (std::size_t s = 0; s < all.size(); ++s) {
    if (summaries[s].is_wait != waits) continue;
    for (std::size_t i = 0; i < repetitions; ++i) {
      const SyscallRow* row = all[s].by_sample[i];
      if (row == nullptr) continue;
      if (!(row->*field).has_value()) return std::nullopt;
      values[i] += fold.value(all[s], i, field);
    }
  }
  return spread_of(std::move(values));
}

/// Per-run calls of those syscalls together; nullopt where some are not known apart, or there are no such syscalls.
template <class Select>
Numbers per_run_sum(const SeriesList& all, const std::vector<SyscallSummary>& summaries,
                    const RepetitionAggregator& fold, std::size_t repetitions, Select is_selected) {
  std::vector<double> values(repetitions, 0.0);
  bool has_any = false;
  for (std::size_t s = 0; s < all.size(); ++s) {
    if (!is_selected(summaries[s])) continue;
    has_any = true;
    if (!fold.tells_per_run_calls(all[s])) return std::nullopt;
    for (std::size_t i = 0; i < repetitions; ++i) {
      const SyscallRow* row = all[s].by_sample[i];
      if (row != nullptr) values[i] += static_cast<double>(*row->per_run_calls);
    }
  }
  return has_any ? spread_of(std::move(values)) : std::nullopt;
}

/// Most kernel time first, then most calls, then by name. Each is large, so each is moved once.
void sort_syscalls(std::vector<SyscallSummary>& syscalls) {
  const auto median = [](const Numbers& numbers) { return numbers ? numbers->median : -1.0; };
  std::vector<std::tuple<double, double, std::string_view, std::size_t>> order;
  order.reserve(syscalls.size());
  for (std::size_t i = 0; i < syscalls.size(); ++i) {
    const SyscallSummary& one = syscalls[i];
    order.emplace_back(-median(one.kernel_ns), -median(one.count()), one.name, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<SyscallSummary> sorted;
  sorted.reserve(syscalls.size());
  for (const auto& entry : order) sorted.push_back(std::move(syscalls[std::get<3>(entry)]));
  syscalls = std::move(sorted);
}

}  // namespace

bool WindowSummary::is_failed_test() const {
  std::size_t ended_well = 0;
  for (const auto& [outcome, times] : outcomes) ended_well += outcome == "failed" ? 0 : times;
  return kind == "test" && ended_well < n;
}

std::vector<const SyscallSummary*> WindowSummary::compared() const {
  std::vector<const SyscallSummary*> all;
  for (const SyscallSummary& one : syscalls) all.push_back(&one);
  if (sync_opens) all.push_back(&*sync_opens);
  return all;
}

const SyscallSummary* WindowSummary::find(std::string_view one) const {
  const auto found =
      std::find_if(syscalls.begin(), syscalls.end(), [&](const SyscallSummary& it) { return it.name == one; });
  if (found != syscalls.end()) return &*found;
  return sync_opens && sync_opens->name == one ? &*sync_opens : nullptr;
}

SyscallSummary sync_opens_of(const Spread& opens) {
  SyscallSummary out;
  out.name = model::kSyncOpens;
  out.calls = out.entries = out.timely = opens;
  out.errors = Spread{opens.n, 0, 0, 0};
  out.errnos.emplace();
  return out;
}

bool has_per_run_calls(const WindowSummary& window) {
  return std::any_of(window.syscalls.begin(), window.syscalls.end(),
                     [](const SyscallSummary& one) { return one.per_run_calls && one.per_run_calls->max > 0; });
}

bool has_altered(const WindowSummary& window) {
  return window.altered.value_or(0) > 0;
}

std::string filter_text(const WindowSummary& window) {
  std::string text;
  for (std::string_view filter : window.filters) {
    text.append(text.empty() ? "" : " and ").append(filter.empty() ? "none" : filter);
  }
  return text.empty() ? "none" : text;
}

std::string_view why_lower_bound(const WindowSummary& window) {
  if (!window.is_lower_bound()) return {};
  return window.incomplete > 0 ? "rows are missing" : "events were lost";
}

std::string no_calls_text(const WindowSummary& window) {
  if (window.incomplete > 0) return "its rows are missing";
  if (!window.calls && !window.entries) return "syscalls were not counted";
  if (window.counted_everything()) return "no syscalls";
  return window.filters.size() > 1 ? "no counted calls" : "no calls of " + filter_text(window);
}

WindowSummary summarize(const model::Dataset& data, const model::Group& group, bool per_iteration) {
  // A plain benchmark's total says nothing: it chose the number of passes itself.
  const bool is_plain = !group.samples.empty() && data.context(data.samples[group.samples.front()]).is_plain;
  const bool is_gpu_kernel = data.text(group.kind) == schema::kKindGpuKernel;  // of many launches a row holds several
  const GroupRows rows(data, group);
  const RepetitionAggregator fold(data, group, rows, per_iteration || is_plain || is_gpu_kernel || group.is_loop(data));
  WindowSummary out;
  out.name = model::display_name(data, group);
  out.kind = data.text(group.kind);
  out.test = data.text(group.test);
  out.program = data.text(group.program);
  out.is_plain = is_gpu_kernel;  // a figure of stamps or CUPTI: a time, and never counts
  out.origin = data.text(group.origin);
  if (group.is_loop(data)) {
    out.loop = data.text(group.window);
    out.owner = model::owner_name(data, group);
    if (group.is_ambiguous) out.owner += " (" + data.text(group.program) + ")";
    out.follows_owner = group.owner.has_value();
  }
  out.n = group.samples.size();
  for (std::size_t i = 0; i < group.samples.size(); ++i) {
    const std::uint32_t sample = group.samples[i];
    if (is_incomplete(data, sample, rows.of(i))) ++out.incomplete;
    if (!fold.measures(i, &SyscallRow::calls) && !fold.measures(i, &SyscallRow::entries)) ++out.uncounted;
    out.filters.insert(data.text(data.context(data.samples[sample]).filter));
    if (const model::NameId outcome = data.samples[sample].totals.outcome; outcome != model::kNoName) {
      ++out.outcomes[data.text(outcome)];
    }
    if (const model::NameId left = data.samples[sample].totals.unclosed; left != model::kNoName) {
      out.unclosed.insert(data.text(left));
    }
    if (const model::NameId excludes = data.samples[sample].totals.excludes; excludes != model::kNoName) {
      out.excludes.insert(data.text(excludes));
    }
  }
  out.processes = processes_in_a_run(data, group);
  out.was_retried = out.outcomes.contains("failed") && was_retried(data, group);
  out.is_per_iteration = fold.is_per_iteration();
  out.iterations = fold.totals(&Totals::iterations, {});
  out.counted_passes = fold.divisors();
  const auto times = [&](model::Measured Totals::*field) {  // a set-up without calls has no row, so no times
    return out.is_set_up() ? fold.where_known(field) : fold.times(field);
  };
  out.wall_ns = times(&Totals::wall_ns);
  add_times(data, group, out);
  add_cpu_times(data, group, out);
  out.user_ns = times(&Totals::user_ns);
  out.system_ns = times(&Totals::system_ns);
  out.overhead_ns = times(&Totals::overhead_estimate_ns);
  const SeriesList all(rows);
  out.calls = fold.counts(&Totals::calls, all, &SyscallRow::per_run_calls);
  out.entries = fold.counts(&Totals::entries, all, &SyscallRow::per_run_calls);
  out.errors = fold.counts(&Totals::errors, all, &SyscallRow::per_run_errors);
  out.spread_calls = fold.counts(&Totals::calls);
  out.spread_entries = fold.counts(&Totals::entries);
  out.has_other_threads = has_other_threads(all);
  out.opens_kernel_files = opens_kernel_files(all);
  out.bytes_read = fold.counts(&Totals::bytes_read);
  out.bytes_written = fold.counts(&Totals::bytes_written);
  out.bytes_mapped = fold.counts(&Totals::bytes_mapped);
  out.bytes_unmapped = fold.counts(&Totals::bytes_unmapped);
  out.peak_rss_bytes = fold.where_known(&Totals::peak_rss_bytes);  // a repetition may not reach it again
  out.descriptors_left = fold.totals(&Totals::descriptors_left, {});
  out.threads_left = fold.totals(&Totals::threads_left, {});
  out.children_left = fold.totals(&Totals::children_left, {});
  out.mapped_bytes_left = fold.totals(&Totals::mapped_bytes_left, {});
  out.peak_mapped_bytes = fold.totals(&Totals::peak_mapped_bytes, {});
  out.descriptors_by_turn = left_by_turn(data, group, &Totals::descriptors_left);
  out.threads_by_turn = left_by_turn(data, group, &Totals::threads_left);
  out.children_by_turn = left_by_turn(data, group, &Totals::children_left);
  out.mapped_bytes_by_turn = left_by_turn(data, group, &Totals::mapped_bytes_left);
  out.late = losses(data, group, &model::Losses::late);
  out.lost = losses(data, group, &model::Losses::lost);

  out.altered = altered_in(all);
  out.syscalls.reserve(all.size());
  for (const Series& series : all) out.syscalls.push_back(summarize_syscall(data, series, fold));
  out.per_run_calls = per_run_sum(all, out.syscalls, fold, out.n, [](const SyscallSummary&) { return true; });
  out.per_run_work_calls =
      per_run_sum(all, out.syscalls, fold, out.n, [](const SyscallSummary& one) { return !one.is_wait; });
  // Sums over rows are right only if all rows are there. If there is no row, only the totals show whether nothing was
  // called or nothing was measured.
  const bool is_counted = !out.syscalls.empty() || out.calls.has_value() || out.entries.has_value();
  if (is_counted && out.incomplete == 0) {
    out.work_ns = total_of(all, out.syscalls, fold, out.n, false, &SyscallRow::latency_sum_ns);
    out.wait_ns = total_of(all, out.syscalls, fold, out.n, true, &SyscallRow::latency_sum_ns);
    const bool has_calls = out.calls.has_value();
    out.work_calls =
        total_of(all, out.syscalls, fold, out.n, false, has_calls ? &SyscallRow::calls : &SyscallRow::entries);
    out.work_errors = total_of(all, out.syscalls, fold, out.n, false, &SyscallRow::errors);
  }
  sort_syscalls(out.syscalls);
  if (!out.is_per_iteration) {
    if (const Numbers opens = count_sync_opens(data, all, fold, out.n)) out.sync_opens = sync_opens_of(*opens);
  }
  return out;
}

std::string outcome_text(const WindowSummary& window) {
  std::string text;
  for (const auto& [outcome, times] : window.outcomes) {
    if (outcome == "passed") continue;
    text += text.empty() ? "" : ", ";
    text += window.n > 1 ? fmt::format("{} x{}", outcome, times) : std::string(outcome);
  }
  return text;
}

}  // namespace syscost::bench::stats
