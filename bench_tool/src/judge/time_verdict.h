// SPDX-License-Identifier: MIT
//
// TimeVerdict: whether the times of each test changed between two runs, and the words of verdicts of counts and times.
//
// A sample is a repetition or a process, never an iteration. A time regressed only when two things hold: chance does
// not explain the difference (adjusted p of the exact rank test), and the difference matters (the whole interval of the
// ratio lies beyond the threshold).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stats/significance.h"

namespace syscost::bench::judge {

/// The word for a test's result. Counts and times have the same words.
enum class Verdict {
  same,          ///< Every gated count is equal, or varies alike.
  near,          ///< Counts vary among repetitions, differently on the two sides, but the ranges are not apart.
  exchanged,     ///< Calls took the place of others of their family (judge/direction.h), no more than before.
  accepted,      ///< It would be red or in doubt but for an accept of the project (judge/accept.h).
  improved,      ///< Some gated count shrank, none grew.
  in_doubt,      ///< Counts differ, and other threads made calls, so that it may be chance: more runs tell.
  regressed,     ///< Some family of calls grew, there are fewer syncs, or a syscall fails in a new way.
  added,         ///< Only NEW has the test; prints as `new`.
  missing,       ///< Only OLD has it.
  errored,       ///< It failed or was skipped on a side: what it asked of the kernel is not what it would have.
  inconclusive,  ///< Events were lost or late, or rows are missing: the counts are lower bounds. Times: noise hides it.
  insufficient,  ///< Times only: too few samples for any difference to show.
  incomparable,  ///< The two sides count no common thing: other backends, other filters.
};

/// The rule that made the verdict on a test, or that judged one count. docs/bench.md says what each one means.
enum class Rule {
  // Rules for tests and for counts.
  chance,
  spread,
  tolerance,
  accept,
  new_wait,
  // Rules for tests.
  equal,
  growth,
  failures,
  syncs,
  leaks,
  fewer,
  exchange,
  gate_counts,
  baseline,
  outcome,
  losses,
  per_run,
  no_common_count,
  one_side,
  times,
  // Rules for counts.
  exact,
  all_runs,
  further_runs,
  not_gated,
};

std::string_view to_string(Rule rule);
/// All words, in the order of Rule.
std::span<const std::string_view> rule_words();

std::string_view to_string(Verdict verdict);
/// True for the verdicts that answer nothing: --strict ends in exit code 3.
bool has_no_answer(Verdict verdict);

struct TimeLimits {
  double threshold = 0.03;  ///< Share of OLD's time: smaller differences do not matter.
  double alpha = 0.05;      ///< Chance of a false alarm in a comparison of equal code.
  /// How many looks share the chance of a false alarm. If you measure until you find something, you find something. A
  /// look that uses only alpha / shares prevents that.
  double shares = 1;
};

/// The times of one test, positive. Empty: that side has none.
struct TimeSamples {
  std::vector<double> old_ns;
  std::vector<double> new_ns;
};

/// `same` is an answer, as `regressed` and `improved` are: the whole interval of the ratio lies inside the threshold.
/// All other verdicts say why there is no answer.
struct TimeVerdict {
  /// regressed, improved, same, inconclusive, insufficient or incomparable.
  Verdict verdict = Verdict::incomparable;
  std::optional<stats::MedianInterval> old_median;
  std::optional<stats::MedianInterval> new_median;
  std::optional<stats::Ratio> ratio;  ///< New / old.
  std::optional<double> p;            ///< From the rank test; none if a side has fewer than 2 samples.
  std::optional<double> adjusted_p;   ///< Over the family and the looks: compare this with alpha.
  std::size_t needed_n = 0;           ///< insufficient: samples that each side needs.
  std::string reason;                 ///< incomparable: why.

  bool is_judged() const { return p.has_value(); }
};

/// The verdicts of a family, in its order.
std::vector<TimeVerdict> judge_times(std::span<const TimeSamples> family, const TimeLimits& limits);

}  // namespace syscost::bench::judge
