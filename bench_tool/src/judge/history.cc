// SPDX-License-Identifier: MIT
#include "judge/history.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "judge/comparability.h"
#include "model/run_selection.h"
#include "stats/repetitions.h"

namespace syscost::bench::judge {
namespace {

using model::Context;
using model::Dataset;
using model::Group;

auto start_of(const Dataset& data, const Context& context) {
  return std::pair(model::sortable_time(data.text(context.started_at)), std::string_view(data.text(context.run_id)));
}

/// Fills `step` of the runs at which the times of `numbers` changed.
void mark_times(std::deque<HistoryRun>& runs, stats::Numbers stats::WindowSummary::*numbers,
                std::optional<ChangePoint> HistoryRun::*step, double threshold) {
  std::vector<HistoryRun*> timed;
  std::vector<double> times;
  for (HistoryRun& run : runs) {
    if (!run.window || !((*run.window).*numbers)) continue;
    timed.push_back(&run);
    times.push_back(((*run.window).*numbers)->median);
  }
  for (const ChangePoint& change : change_points(times, threshold)) timed[change.at]->*step = change;
}

using RunIndexes = std::vector<std::size_t>;

void append(RunIndexes& runs, const RunIndexes& more) {
  runs.insert(runs.end(), more.begin(), more.end());
  if (runs.size() > kMostRunsBefore)
    runs.erase(runs.begin(), runs.end() - static_cast<std::ptrdiff_t>(kMostRunsBefore));
}

class CountSteps {
 public:
  CountSteps(const Dataset& data, const Group& test, const std::vector<std::vector<std::uint32_t>>& samples,
             const CountPolicy& policy)
      : data_(data), test_(test), samples_(samples), policy_(policy) {}

  void take(std::size_t index, HistoryRun& run) {
    if (!run.window || !can_be_compared(*run.window)) return;
    Stretches& its = stretches_[stats::filter_text(*run.window)];
    if (!its.before.empty()) {
      stats::WindowSummary all = pooled(its.before);
      const Comparison change = compare_windows(&all, &*run.window, policy_);
      if (change.has_fault) return;
      if (change.verdict == Verdict::incomparable) {
        // Counted in another way from here on: by another backend, for one.
        its = {{index}, {}};
        return;
      }
      if (has_no_answer(change.verdict) && change.verdict != Verdict::in_doubt) return;
      if (is_step(change)) {
        run.before = std::move(all);
        run.step = change;
        run.step->old_window = &*run.before;
        begin_after_step(*run.window, its);
      }
    }
    append(its.before, {index});
  }

 private:
  struct Stretches {
    RunIndexes before;  ///< Since the last step.
    RunIndexes older;   ///< From the step before it to it.
  };

  static bool can_be_compared(const stats::WindowSummary& window) {
    return window.is_counted() && !find_fault(window, window);
  }

  static bool is_step(const Comparison& change) {
    return std::any_of(change.deltas.begin(), change.deltas.end(), [](const Delta& delta) {
      return delta.is_gated() && (delta.change == Change::grew || delta.change == Change::shrank);
    });
  }

  /// If a count returns to its value before the last step, it varies. From now on the range of both stretches is
  /// normal, so the history does not show steps up and down for ever.
  void begin_after_step(const stats::WindowSummary& window, Stretches& its) const {
    if (!its.older.empty()) {
      const stats::WindowSummary all = pooled(its.older);
      if (!is_step(compare_windows(&all, &window, policy_))) {
        append(its.older, its.before);
        its.before = std::exchange(its.older, {});
        return;
      }
    }
    its.older = std::exchange(its.before, {});
  }

  stats::WindowSummary pooled(const RunIndexes& runs) const {
    std::vector<std::uint32_t> all;
    for (const std::size_t run : runs) all.insert(all.end(), samples_[run].begin(), samples_[run].end());
    return stats::summarize(data_, with_samples(test_, std::move(all)), true);
  }

  const Dataset& data_;
  const Group& test_;
  const std::vector<std::vector<std::uint32_t>>& samples_;
  const CountPolicy& policy_;
  std::map<std::string, Stretches> stretches_;  ///< By filter: runs with another one hide no step.
};

}  // namespace

Group with_samples(const Group& test, std::vector<std::uint32_t> samples) {
  Group some = test;
  some.samples = std::move(samples);
  return some;
}

std::vector<RunOfHistory> runs_in_order(const Dataset& data, std::optional<model::NameId> program) {
  std::map<model::NameId, RunOfHistory> by_id;
  for (const Context& context : data.contexts) {
    if (program && context.program != *program) continue;
    RunOfHistory& run = by_id[context.run_id];
    run.run_id = context.run_id;
    if (run.context == nullptr || start_of(data, context) < start_of(data, *run.context)) run.context = &context;
    bool& ran_all = run.ran_all_tests.try_emplace(context.program, true).first->second;
    ran_all = ran_all && data.text(context.selection) == "whole";
  }
  std::vector<RunOfHistory> runs;
  for (auto& [id, run] : by_id) runs.push_back(std::move(run));
  std::stable_sort(runs.begin(), runs.end(), [&](const RunOfHistory& a, const RunOfHistory& b) {
    return start_of(data, *a.context) < start_of(data, *b.context);
  });
  return runs;
}

std::deque<HistoryRun> history_of(const Dataset& data, const Group& test, const CountPolicy& policy, double threshold) {
  std::map<model::NameId, std::vector<std::uint32_t>> samples_of;
  for (const std::uint32_t sample : test.samples)
    samples_of[data.context(data.samples[sample]).run_id].push_back(sample);

  std::deque<HistoryRun> runs;
  for (const RunOfHistory& run : runs_in_order(data, test.program)) {
    runs.emplace_back();
    runs.back().run_id = run.run_id;
    runs.back().context = run.context;
  }
  std::vector<std::vector<std::uint32_t>> samples;
  for (HistoryRun& run : runs) {
    samples.push_back(samples_of[run.run_id]);
    if (!samples.back().empty()) run.window = stats::summarize(data, with_samples(test, samples.back()), true);
  }
  CountSteps steps(data, test, samples, policy);
  for (std::size_t i = 0; i < runs.size(); ++i) steps.take(i, runs[i]);
  mark_times(runs, &stats::WindowSummary::wall_ns, &HistoryRun::wall_step, threshold);
  mark_times(runs, &stats::WindowSummary::cpu_ns, &HistoryRun::cpu_step, threshold);
  return runs;
}

namespace {

constexpr std::size_t kOrders = 999;
constexpr double kLevel = 0.01;
/// Values on each side of a change: one that stands alone is an outlier.
constexpr std::size_t kLeastSide = 3;

/// Ranks from 1; of equal values the mean of theirs.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = static_cast<double>(begin + 1 + end) / 2;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = rank;
  }
  return ranks;
}

struct Split {
  std::size_t at = 0;
  double distance = 0;
};

/// Where the rank sums of the two sides are furthest from what they are expected to be.
Split furthest_split(const std::vector<double>& ranks) {
  const auto n = static_cast<double>(ranks.size());
  Split best;
  double sum = 0;
  for (std::size_t k = 1; k + kLeastSide <= ranks.size(); ++k) {
    sum += ranks[k - 1];
    if (k < kLeastSide) continue;
    const auto first = static_cast<double>(k);
    const double distance = std::abs(sum - first * (n + 1) / 2) / std::sqrt(first * (n - first) * (n + 1) / 12);
    if (distance > best.distance) best = {k, distance};
  }
  return best;
}

/// Adds where [begin, end) changes, from the first to the last.
void find_in(std::span<const double> values, std::size_t begin, std::size_t end, std::vector<std::size_t>& found) {
  if (end - begin < kLeastHistory) return;
  std::vector<double> ranks = ranks_of(values.subspan(begin, end - begin));
  const Split split = furthest_split(ranks);
  std::mt19937_64 random(1);
  std::size_t as_far = 0;
  for (std::size_t i = 0; i < kOrders; ++i) {
    // Not std::shuffle: what it does with a generator differs between libraries.
    for (std::size_t left = ranks.size(); left > 1; --left) std::swap(ranks[left - 1], ranks[random() % left]);
    constexpr double kRounding = 1e-9;
    if (furthest_split(ranks).distance >= split.distance - kRounding) ++as_far;
  }
  if (static_cast<double>(as_far + 1) > kLevel * static_cast<double>(kOrders + 1)) return;
  const std::size_t at = begin + split.at;
  find_in(values, begin, at, found);
  found.push_back(at);
  find_in(values, at, end, found);
}

double median_in(std::span<const double> values, std::size_t begin, std::size_t end) {
  return stats::spread_of(
             {values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end)})
      ->median;
}

}  // namespace

std::vector<ChangePoint> change_points(std::span<const double> values, double threshold) {
  std::vector<std::size_t> found;
  find_in(values, 0, values.size(), found);
  std::vector<ChangePoint> changes;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : found[i - 1];
    const std::size_t end = i + 1 == found.size() ? values.size() : found[i + 1];
    const ChangePoint one{found[i], median_in(values, begin, found[i]), median_in(values, found[i], end)};
    if (std::abs(one.after - one.before) > threshold * one.before) changes.push_back(one);
  }
  return changes;
}

}  // namespace syscost::bench::judge
