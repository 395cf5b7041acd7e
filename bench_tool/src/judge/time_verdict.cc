// SPDX-License-Identifier: MIT
#include "judge/time_verdict.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "stats/significance.h"

namespace syscost::bench::judge {

std::string_view to_string(Verdict verdict) {
  static constexpr std::array<std::string_view, 13> kNames = {
      "same", "near",    "exchanged", "accepted",     "improved",     "in doubt",    "regressed",
      "new",  "missing", "errored",   "inconclusive", "insufficient", "incomparable"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::span<const std::string_view> rule_words() {
  static constexpr std::array<std::string_view, 24> kWords = {
      "chance",  "spread",          "tolerance", "accept",   "new-wait",    "equal",    "growth",       "failures",
      "syncs",   "leaks",           "fewer",     "exchange", "gate-counts", "baseline", "outcome",      "losses",
      "per-run", "no-common-count", "one-side",  "times",    "exact",       "all-runs", "further-runs", "not-gated"};
  return kWords;
}

std::string_view to_string(Rule rule) {
  return rule_words()[static_cast<std::size_t>(rule)];
}

bool has_no_answer(Verdict verdict) {
  return verdict == Verdict::in_doubt || verdict == Verdict::missing || verdict == Verdict::errored ||
         verdict == Verdict::inconclusive || verdict == Verdict::insufficient || verdict == Verdict::incomparable;
}

namespace {

bool all_positive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

/// Everything that needs this test alone.
TimeVerdict measure(const TimeSamples& samples, const TimeLimits& limits) {
  TimeVerdict out;
  if (samples.old_ns.empty() || samples.new_ns.empty()) {
    out.reason = samples.old_ns.empty() ? "OLD has no time" : "NEW has no time";
    return out;
  }
  const double level = 1 - limits.alpha / limits.shares;
  out.old_median = stats::median_interval(samples.old_ns, 1 - limits.alpha);
  out.new_median = stats::median_interval(samples.new_ns, 1 - limits.alpha);
  if (!all_positive(samples.old_ns) || !all_positive(samples.new_ns)) {
    out.reason = "a repetition took 0 ns by its clock";
    return out;
  }
  out.ratio = stats::shift_ratio(samples.old_ns, samples.new_ns, level);
  if (samples.old_ns.size() > 1 && samples.new_ns.size() > 1)
    out.p = stats::rank_test(samples.old_ns, samples.new_ns).p;
  return out;
}

Verdict judge(const TimeVerdict& one, bool can_reach, const TimeLimits& limits) {
  const std::optional<stats::Interval>& interval = one.ratio->interval;
  if (interval && one.adjusted_p) {
    if (*one.adjusted_p < limits.alpha && interval->low > 1 + limits.threshold) return Verdict::regressed;
    // 1 / (1 + t): as many times faster as a regression is slower, so that swapping the sides swaps the verdicts.
    if (*one.adjusted_p < limits.alpha && interval->high < 1 / (1 + limits.threshold)) return Verdict::improved;
    if (interval->low >= 1 / (1 + limits.threshold) && interval->high <= 1 + limits.threshold) return Verdict::same;
  }
  return can_reach ? Verdict::inconclusive : Verdict::insufficient;
}

}  // namespace

std::vector<TimeVerdict> judge_times(std::span<const TimeSamples> family, const TimeLimits& limits) {
  std::vector<TimeVerdict> out;
  out.reserve(family.size());
  std::vector<double> p;
  std::size_t compared = 0;
  for (const TimeSamples& samples : family) {
    out.push_back(measure(samples, limits));
    if (out.back().ratio) ++compared;
    if (out.back().is_judged()) p.push_back(*out.back().p);
  }
  const std::vector<double> adjusted = stats::adjusted_p(p);
  std::size_t next = 0;
  const double alpha = limits.alpha / limits.shares;
  for (std::size_t i = 0; i < family.size(); ++i) {
    TimeVerdict& one = out[i];
    if (!one.ratio) continue;
    if (one.is_judged()) one.adjusted_p = std::min(1.0, adjusted[next++] * limits.shares);
    const double smallest = stats::smallest_p(family[i].old_ns.size(), family[i].new_ns.size());
    const auto tests = static_cast<double>(p.size());
    one.verdict = judge(one, one.is_judged() && smallest * tests < alpha, limits);
    if (one.verdict == Verdict::insufficient) one.needed_n = stats::samples_needed(compared, alpha);
  }
  return out;
}

}  // namespace syscost::bench::judge
