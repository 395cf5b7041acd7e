// SPDX-License-Identifier: MIT
#include "judge/row_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "judge/comparability.h"

namespace syscost::bench::judge {
namespace {

/// The members of a row that belong to one kind of time.
struct Kind {
  std::optional<TimeVerdict> Comparison::*verdict;
  const std::vector<double>& (*times_ns)(const stats::WindowSummary&);
  const std::vector<double>& (*process_times_ns)(const stats::WindowSummary&);
  double clock_ns;  ///< The most that reading the clock twice adds to a loop's pass.
};

constexpr Kind kWall = {
    &Comparison::time, [](const stats::WindowSummary& one) -> const std::vector<double>& { return one.times_ns; },
    [](const stats::WindowSummary& one) -> const std::vector<double>& { return one.process_times_ns; }, 100};
/// getrusage(): the time of the call, and the rounding of two numbers to whole microseconds.
constexpr Kind kCpu = {
    &Comparison::cpu, [](const stats::WindowSummary& one) -> const std::vector<double>& { return one.cpu.times_ns; },
    [](const stats::WindowSummary& one) -> const std::vector<double>& { return one.cpu.process_times_ns; }, 3000};

bool has_comparable_times(const Comparison& row, const Kind& kind, const ComparableTimes& comparable) {
  if (!row.is_paired() || row.verdict == Verdict::errored) return false;
  const stats::WindowSummary& old_window = *row.old_window;
  const stats::WindowSummary& new_window = *row.new_window;
  if (old_window.is_set_up() || new_window.is_set_up()) return false;
  if (differ_by_faults(old_window, new_window)) return false;
  if (old_window.is_per_iteration != new_window.is_per_iteration) return false;
  if (kind.times_ns(old_window).empty() || kind.times_ns(new_window).empty()) return false;
  return old_window.is_timed_apart() && new_window.is_timed_apart() ? comparable.unmeasured : comparable.measured;
}

/// True where passes of different lengths share out the clock's part differently enough to look like this.
bool is_explained_by_clock(const Comparison& row, const Kind& kind) {
  const stats::WindowSummary& old_window = *row.old_window;
  const stats::WindowSummary& new_window = *row.new_window;
  if (old_window.kind != "loop" || new_window.kind != "loop" || !old_window.is_per_iteration) return false;
  const TimeVerdict& time = *(row.*kind.verdict);
  if (!old_window.iterations || !new_window.iterations || !time.old_median || !time.new_median) return false;
  const double shares_ns =
      std::abs(kind.clock_ns / old_window.iterations->median - kind.clock_ns / new_window.iterations->median);
  return std::abs(time.new_median->median - time.old_median->median) <= shares_ns;
}

void judge_kind(std::vector<Comparison>& rows, const Kind& kind, const ComparableTimes& comparable,
                const TimeLimits& limits) {
  std::vector<TimeSamples> family;
  std::vector<Comparison*> judged;
  for (Comparison& row : rows) {
    if (!has_comparable_times(row, kind, comparable) || (row.*kind.verdict).has_value()) continue;
    const auto samples = samples_are_processes(row) ? kind.process_times_ns : kind.times_ns;
    family.push_back({samples(*row.old_window), samples(*row.new_window)});
    judged.push_back(&row);
  }
  std::vector<TimeVerdict> verdicts = judge_times(family, limits);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    std::optional<TimeVerdict>& time = judged[i]->*kind.verdict;
    time = std::move(verdicts[i]);
    const bool has_changed = time->verdict == Verdict::regressed || time->verdict == Verdict::improved;
    if (has_changed && is_explained_by_clock(*judged[i], kind)) time->verdict = Verdict::inconclusive;
  }
}

/// The step of a side's clock: all its times are multiples of it.
std::uint64_t step_of(const std::vector<Comparison>& rows, const stats::WindowSummary* Comparison::*side) {
  constexpr std::uint64_t kMicrosecond = 1000;
  constexpr std::size_t kFew = 4;  // a common divisor of fewer times need not be the step of a clock
  std::uint64_t step_ns = 0;
  std::size_t readings = 0;
  for (const Comparison& row : rows) {
    if (row.*side == nullptr) continue;
    step_ns = std::gcd(step_ns, (row.*side)->cpu.step_ns);
    readings += (row.*side)->cpu.times_ns.size();
  }
  return readings < kFew ? std::min(step_ns, kMicrosecond) : step_ns;
}

/// A reading may be off by two steps, one for each end of the window. A time is judged only if that is a small share.
constexpr double kStepsOff = 2;
constexpr double kFinestLook = 0.01;

/// Takes rows out of the family of processor times if their clock is too coarse. Such a time has 0, 1 or 2 steps, which
/// only tells where the steps fell. So two times of 1 step are no evidence of `same`.
void drop_coarse(std::vector<Comparison>& rows, const ComparableTimes& comparable, const TimeLimits& limits) {
  const std::array<std::uint64_t, 2> steps_ns = {step_of(rows, &Comparison::old_window),
                                                 step_of(rows, &Comparison::new_window)};
  for (Comparison& row : rows) {
    if (!has_comparable_times(row, kCpu, comparable)) continue;
    const std::array<const stats::WindowSummary*, 2> sides = {row.old_window, row.new_window};
    for (std::size_t side = 0; side < sides.size(); ++side) {
      const auto least_ns = static_cast<double>(sides[side]->cpu.least_ns);
      const double off_ns = kStepsOff * static_cast<double>(std::max<std::uint64_t>(steps_ns[side], 1));
      if (off_ns <= std::max(limits.threshold, kFinestLook) * least_ns) continue;
      row.cpu.emplace();
      row.cpu->verdict = Verdict::insufficient;
      row.cpu->reason = least_ns == 0 ? std::string("a repetition took no processor time that its clock could see")
                                      : fmt::format("too short for a clock with steps of {} ns", steps_ns[side]);
      row.cpu->old_median = stats::MedianInterval{row.old_window->cpu_ns->median, {}};
      row.cpu->new_median = stats::MedianInterval{row.new_window->cpu_ns->median, {}};
      break;
    }
  }
}

/// For a row that has times only: the worse of two verdicts, or the one that says more.
Verdict verdict_of_both(const Comparison& row) {
  if (!row.cpu || !row.cpu->is_judged()) return row.time ? row.time->verdict : row.verdict;
  if (!row.time) return row.cpu->verdict;
  for (const Verdict word : {Verdict::regressed, Verdict::improved, Verdict::inconclusive, Verdict::insufficient}) {
    if (row.has_time_verdict(word)) return word;
  }
  return row.time->verdict;
}

}  // namespace

bool samples_are_processes(const Comparison& row) {
  return row.is_paired() &&
         (row.old_window->process_times_ns.size() > 1 || row.new_window->process_times_ns.size() > 1);
}

void judge_row_times(std::vector<Comparison>& rows, const ComparableTimes& comparable, const TimeLimits& limits) {
  judge_kind(rows, kWall, comparable, limits);
  drop_coarse(rows, comparable, limits);
  judge_kind(rows, kCpu, comparable, limits);
  for (Comparison& row : rows) {
    // If one side was counted and the other cannot be, the counts are unknown. That stays the row's verdict.
    if (!row.time || !row.old_window->is_plain || !row.new_window->is_plain) continue;
    row.is_plain = true;
    row.verdict = verdict_of_both(row);
    row.rule = Rule::times;
    row.reason = row.time->reason;
  }
}

bool is_undecided(const std::optional<TimeVerdict>& time) {
  return time && time->ratio && (time->verdict == Verdict::inconclusive || time->verdict == Verdict::insufficient);
}

std::optional<KernelSplit> split_kernel_time(const Comparison& row) {
  if (!row.is_paired() || row.counted == nullptr) return std::nullopt;
  struct Side {
    double calls = 0;
    double ns = 0;

    double mean() const { return calls > 0 ? ns / calls : 0; }
  };
  struct Both {
    Side before;
    Side now;
  };
  std::map<std::string_view, Both> syscalls;
  for (const stats::WindowSummary* window : {row.old_window, row.new_window}) {
    for (const stats::SyscallSummary& one : window->syscalls) {
      if (one.is_wait) continue;
      const stats::CallFigures& figures = row.tells_per_run ? one : one.with_per_run();
      if (!figures.latency_count || !figures.kernel_ns) return std::nullopt;
      Both& both = syscalls[one.name];
      Side& side = window == row.old_window ? both.before : both.now;
      side = {figures.latency_count->median, figures.kernel_ns->median};
    }
  }
  KernelSplit split;
  for (const auto& [name, both] : syscalls) {
    // A syscall that was not made before has no earlier mean, so all its time is due to more calls.
    const double mean = both.before.calls > 0 ? both.before.mean() : both.now.mean();
    split.more_calls_ns += (both.now.calls - both.before.calls) * mean;
    split.slower_calls_ns += both.now.calls * (both.now.mean() - mean);
  }
  return split;
}

}  // namespace syscost::bench::judge
