// SPDX-License-Identifier: MIT
#include "judge/baseline_windows.h"

#include <fmt/format.h>
#include <boost/math/distributions/chi_squared.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "judge/verdict.h"
#include "model/row_parser.h"
#include "stats/repetitions.h"
#include "stats/summaries.h"
#include "stats/window_summary.h"

namespace syscost::bench::judge {
namespace {

constexpr const char* kCalls = "calls";
constexpr const char* kEntries = "entries";
constexpr const char* kInjected = "injected";
constexpr const char* kPasses = "passes";
constexpr const char* kDescriptorsLeft = "descriptors_left";
constexpr const char* kMappedBytesLeft = "mapped_bytes_left";
constexpr const char* kTimely = "timely";  // only where it does not follow from the calls and their errnos
constexpr const char* kPerRun = "per_run";
constexpr std::string_view kPerRunErrno = "per_run ";

model::Range to_range(const stats::Spread& spread) {
  return {spread.min, spread.median, spread.max};
}

stats::Spread to_spread(const model::Range& range, std::size_t n) {
  return {n, range.middle, range.least, range.most};
}

/// Calls, and the entries if they are others; without calls the entries alone.
void add_counts(const std::string& syscall, bool has_calls, const stats::Numbers& calls, const stats::Numbers& entries,
                std::vector<model::BaselineCell>& cells) {
  if (has_calls && calls) cells.push_back({syscall, kCalls, to_range(*calls)});
  const bool are_others = !has_calls || !calls || (entries && to_range(*entries) != to_range(*calls));
  if (entries && are_others) cells.push_back({syscall, kEntries, to_range(*entries)});
}

/// Calls without the failures that only say "too early"; where these vary, at least and at most so many.
stats::Numbers timely_of(const stats::SyscallSummary& one) {
  stats::Numbers timely = one.calls;
  if (!timely || !one.errnos) return timely;
  for (const auto& [name, spread] : *one.errnos) {
    if (!stats::is_too_early(one.name, name)) continue;
    timely->min = std::max(timely->min - spread.max, 0.0);
    timely->median = std::max(timely->median - spread.median, 0.0);
    timely->max = std::max(timely->max - spread.min, 0.0);
  }
  return timely;
}

void add_timely(const stats::SyscallSummary& one, std::vector<model::BaselineCell>& cells) {
  const stats::Numbers follows = timely_of(one);
  if (!one.timely || !follows || to_range(*one.timely) == to_range(*follows)) return;
  cells.push_back({one.name, kTimely, to_range(*one.timely)});
}

void add_syscall(const stats::SyscallSummary& one, bool has_calls, model::BaselineWindow& out) {
  auto add = [&](std::string what, const stats::Spread& spread) {
    if (spread.max > 0) out.cells.push_back({one.name, std::move(what), to_range(spread)});
  };
  add_counts(one.name, has_calls, one.calls, one.entries, out.cells);
  for (const auto& [name, spread] : one.errnos.value_or(stats::ErrnoNumbers())) add(name, spread);
  // A 0 stays: it says that per-run calls are known apart.
  if (one.per_run_calls) out.cells.push_back({one.name, kPerRun, to_range(*one.per_run_calls)});
  for (const auto& [name, spread] : one.per_run_errnos) add(std::string(kPerRunErrno) + name, spread);
  if (one.altered) add(kInjected, *one.altered);
  add_timely(one, out.cells);
}

stats::Spread operator+(const stats::Spread& a, const stats::Spread& b) {
  return {a.n, a.median + b.median, a.min + b.min, a.max + b.max};
}

stats::Spread operator/(const stats::Spread& a, double divisor) {
  return {a.n, a.median / divisor, a.min / divisor, a.max / divisor};
}

/// The figures with the per-run calls, spread over the passes.
stats::CallFigures spread_figures(const stats::SyscallSummary& one, double passes) {
  stats::CallFigures out = one;
  for (stats::Numbers* count : {&out.calls, &out.entries, &out.timely}) {
    if (*count) *count = **count + *one.per_run_calls / passes;
  }
  if (!out.errnos) return out;
  for (const auto& [name, spread] : one.per_run_errnos) {
    const auto found = out.errnos->find(name);
    out.errnos->insert_or_assign(name, found == out.errnos->end() ? spread / passes : found->second + spread / passes);
  }
  return out;
}

/// As in the CSV: of `suite Log, set-up` it is Log, of an environment nothing.
std::string_view suite_or_test(const model::BaselineWindow& window) {
  std::string_view name = window.name;
  if (window.kind == "test") return name;
  constexpr std::string_view kSuite = "suite ";
  if (window.kind != "suite" || !name.starts_with(kSuite)) return {};
  name.remove_prefix(kSuite.size());
  return name.substr(0, name.rfind(", "));
}

void take_cell(const model::BaselineCell& cell, std::size_t n, stats::SyscallSummary& out) {
  const stats::Spread spread = to_spread(cell.range, n);
  if (cell.what == kCalls) {
    out.calls = spread;
  } else if (cell.what == kEntries) {
    out.entries = spread;
  } else if (cell.what == kPerRun) {
    out.per_run_calls = spread;
    out.per_run_errors = stats::Spread{n, 0, 0, 0};
  } else if (cell.what.starts_with(kPerRunErrno)) {
    out.per_run_errnos.insert_or_assign(cell.what.substr(kPerRunErrno.size()), spread);
  } else if (cell.what == kTimely) {
    out.timely = spread;
  } else if (cell.what == kInjected) {
    out.altered = spread;
  } else if (cell.what == "kernel_ns") {
    out.kernel_ns = spread;
  } else if (model::is_errno(cell.what)) {
    if (!out.errnos) out.errnos.emplace();
    out.errnos->insert_or_assign(cell.what, spread);
  }
}

/// Fills in the counts that have no cell.
void complete(const stats::WindowSummary& window, bool tells_errors, stats::SyscallSummary& one) {
  const stats::Spread none{window.n, 0, 0, 0};
  // A syscall that was never made has no line.
  if (window.calls && !one.calls) one.calls = none;
  if (window.entries && !one.entries) one.entries = one.calls ? *one.calls : none;
  if (!window.entries) one.entries.reset();
  const bool has_errors = window.calls && tells_errors;  // without calls no results were seen
  if (has_errors && !one.errnos) one.errnos.emplace();
  if (has_errors) return;
  one.errnos.reset();
  one.per_run_errors.reset();
  one.per_run_errnos.clear();
}

}  // namespace

bool has_failed(const stats::WindowSummary& window) {
  return window.outcomes.count(model::kOutcomeFailed) != 0;
}

std::string_view filter_of(const model::Baseline& baseline) {
  const auto found = std::ranges::find(baseline.surroundings, "filter", &std::pair<std::string, std::string>::first);
  return found == baseline.surroundings.end() ? std::string_view() : std::string_view(found->second);
}

BaselineFault fault_of(const stats::WindowSummary& window) {
  if (has_failed(window)) return {"it failed", kAllowFailed};
  if (window.filters.size() > 1) return {"it was counted under several filters"};
  const std::uint64_t lost = window.lost.value_or(0) + window.late.value_or(0);
  if (lost > 0) {
    return {fmt::format("{} events of it were lost or late, so its counts are lower bounds", lost), kAllowLost};
  }
  if (window.incomplete > 0) return {"rows of it are missing", kAllowLost};
  if (!window.is_counted()) return {"it was not counted", kAllowLost};
  return {};
}

model::BaselineWindow to_baseline(const stats::WindowSummary& window, std::string program, std::string name) {
  model::BaselineWindow out;
  out.program = std::move(program);
  out.name = std::move(name);
  out.kind = window.kind;
  out.outcome = window.outcomes.empty() ? "" : std::string(window.outcomes.begin()->first);
  out.n = window.n;
  if (has_failed(window)) {
    out.outcome = model::kOutcomeFailed;
    return out;
  }
  if (fault_of(window).allowed_by == kAllowLost) {
    out.outcome = model::kOutcomeLost;
    return out;
  }
  if (window.outcomes.size() > 1) {
    // It passed in some repetitions and was skipped in others, so its counts are those of two different tests.
    out.outcome = model::kOutcomeVaries;
    return out;
  }
  const bool has_calls = window.calls.has_value();
  const auto all = [&](auto knows) { return std::all_of(window.syscalls.begin(), window.syscalls.end(), knows); };
  out.tells_entries = window.entries && all([](const stats::SyscallSummary& one) { return one.entries.has_value(); });
  out.tells_errors = all([](const stats::SyscallSummary& one) { return one.errnos.has_value(); });
  out.tells_opens = window.sync_opens || window.is_per_iteration;
  add_counts("", has_calls, window.calls, window.entries, out.cells);
  out.has_other_threads = window.has_other_threads;
  if (window.is_per_iteration && window.counted_passes) {
    out.cells.push_back({"", kPasses, to_range(*window.counted_passes)});
  }
  // A 0 stays: it says that somebody looked.
  if (window.descriptors_left) out.cells.push_back({"", kDescriptorsLeft, to_range(*window.descriptors_left)});
  // Bytes that vary would change lines of tests that did not change.
  if (window.mapped_bytes_left && window.mapped_bytes_left->is_exact())
    out.cells.push_back({"", kMappedBytesLeft, to_range(*window.mapped_bytes_left)});
  for (const stats::SyscallSummary& one : window.syscalls) add_syscall(one, has_calls, out);
  if (window.sync_opens && window.sync_opens->calls->max > 0) add_syscall(*window.sync_opens, true, out);
  return out;
}

stats::WindowSummary from_baseline(const model::Baseline& baseline, const model::BaselineWindow& window) {
  stats::WindowSummary out;
  out.name = window.name;
  out.program = window.program;
  out.test = suite_or_test(window);
  out.kind = window.kind;
  out.origin = schema::kOriginSyscost;
  if (window.kind == "loop") {
    static constexpr std::string_view kLoop = "loop ";
    const std::size_t at = window.name.rfind(kLoop);
    out.loop = std::string_view(window.name).substr(at == std::string::npos ? 0 : at + kLoop.size());
  }
  out.n = window.n;
  if (!window.outcome.empty()) out.outcomes[window.outcome] = window.n;
  out.filters.insert(filter_of(baseline));
  std::map<std::string_view, stats::SyscallSummary> syscalls;
  for (const model::BaselineCell& cell : window.cells) {
    if (!cell.syscall.empty()) {
      take_cell(cell, window.n, syscalls[cell.syscall]);
      continue;
    }
    const stats::Spread spread = to_spread(cell.range, window.n);
    if (cell.what == kCalls) out.calls = out.spread_calls = spread;
    if (cell.what == kEntries) out.entries = out.spread_entries = spread;
    if (cell.what == "wall_ns") out.wall_ns = spread;
    if (cell.what == kPasses) out.iterations = out.counted_passes = spread;
    if (cell.what == kDescriptorsLeft) out.descriptors_left = spread;
    if (cell.what == kMappedBytesLeft) out.mapped_bytes_left = spread;
  }
  if (out.calls && !out.entries && window.tells_entries) out.entries = out.spread_entries = out.calls;
  if (out.calls && !window.tells_entries) out.entries = out.spread_entries = std::nullopt;
  out.has_other_threads = window.has_other_threads;
  out.is_per_iteration = out.counted_passes.has_value();
  if (out.calls && window.tells_opens && !out.is_per_iteration) {
    const stats::Numbers opens = syscalls[model::kSyncOpens].calls;
    out.sync_opens = stats::sync_opens_of(opens ? *opens : stats::Spread{window.n, 0, 0, 0});
  }
  syscalls.erase(model::kSyncOpens);
  for (auto& [name, one] : syscalls) {
    one.name = name;
    const auto classes = baseline.classes.find(std::string(name.substr(0, name.find(' '))));
    if (classes != baseline.classes.end()) one.classes = classes->second;
    one.is_wait = model::has_class(one.classes, "wait");
    complete(out, window.tells_errors, one);
    if (!one.timely) one.timely = timely_of(one);
    if (one.per_run_calls) one.spread = spread_figures(one, out.passes());
    if (one.altered) {
      out.altered = out.altered.value_or(0) + static_cast<std::uint64_t>(std::ceil(one.altered->max));
    }
    out.syscalls.push_back(std::move(one));
  }
  return out;
}

FalseAlarms false_alarms_of(const model::Dataset& data, const std::vector<model::Group>& groups,
                            const CountPolicy& policy) {
  using Run = std::pair<std::uint32_t, model::NameId>;
  const auto run_of = [&](std::uint32_t sample) {
    const model::Context& context = data.context(data.samples[sample]);
    return Run(context.file, context.run_id);
  };
  FalseAlarms out;
  std::set<Run> runs;
  for (const model::Group& group : groups) {
    std::set<Run> its_runs;
    for (std::uint32_t sample : group.samples) its_runs.insert(run_of(sample));
    out.runs = std::max(out.runs, its_runs.size());
    runs.insert(its_runs.begin(), its_runs.end());
  }
  if (out.runs < kFewestRuns) return out;
  for (const Run& run : runs) {
    std::vector<model::Group> one;
    std::vector<model::Group> others;
    for (const model::Group& group : groups) {
      model::Group in = group;
      model::Group rest = group;
      std::erase_if(in.samples, [&](std::uint32_t sample) { return run_of(sample) != run; });
      std::erase_if(rest.samples, [&](std::uint32_t sample) { return run_of(sample) == run; });
      if (in.samples.empty()) continue;
      one.push_back(std::move(in));
      others.push_back(std::move(rest));
    }
    const std::vector<stats::WindowSummary> now = stats::summarize_all(data, one, true);
    const std::vector<stats::WindowSummary> before = stats::summarize_all(data, others, true);
    std::deque<stats::WindowSummary> empty;
    std::vector<Comparison> rows;
    for (std::size_t i = 0; i < now.size(); ++i) {
      const bool has_others = !others[i].samples.empty();
      const stats::WindowSummary* expected = has_others ? &before[i] : stats::without_calls(now[i], before, empty);
      if (expected != nullptr) rows.push_back(compare_windows(expected, &now[i], policy));
    }
    decide_doubts(rows);
    out.departed += static_cast<std::size_t>(std::count_if(
        rows.begin(), rows.end(), [](const Comparison& row) { return row.verdict == Verdict::regressed; }));
  }
  return out;
}

double FalseAlarms::at_most() const {
  // The upper 95 % bound of a Poisson mean of which `departed` were counted (Garwood 1936).
  const boost::math::chi_squared_distribution<double> distribution(2.0 * (static_cast<double>(departed) + 1));
  return boost::math::quantile(distribution, 0.95) / 2 / static_cast<double>(runs);
}

std::string FalseAlarms::text() const {
  const std::string what = "false alarms of a run that changes nothing: ";
  if (!is_known()) {
    return fmt::format("{}not known from {} run{}; give {} or more", what, runs, runs == 1 ? "" : "s", kFewestRuns);
  }
  return fmt::format(
      "{}about {:.1f} tests, at most {:.1f} with 95 % confidence ({} red when each of {} runs is compared with the "
      "others)",
      what, expected(), at_most(), departed, runs);
}

}  // namespace syscost::bench::judge
