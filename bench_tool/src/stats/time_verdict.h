// SPDX-License-Identifier: MIT
//
// TimeVerdict: whether the times of each test changed between two runs.
//
// A sample is a repetition or a process, never an iteration. A time regressed only when two things hold: chance does
// not explain the difference (adjusted p of the exact rank test), and the difference matters (the whole interval of the
// ratio lies beyond the threshold). `same` is an answer, too: the whole interval lies inside. All other
// verdicts say why there is no answer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stats/interval.h"
#include "stats/verdict_word.h"

namespace syscost::bench::stats {

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

struct TimeVerdict {
  /// regressed, improved, same, inconclusive, insufficient or incomparable.
  Verdict verdict = Verdict::incomparable;
  std::optional<MedianInterval> old_median;
  std::optional<MedianInterval> new_median;
  std::optional<Ratio> ratio;        ///< New / old.
  std::optional<double> p;           ///< From the rank test; none if a side has fewer than 2 samples.
  std::optional<double> adjusted_p;  ///< Over the family and the looks: compare this with alpha.
  std::size_t needed_n = 0;          ///< insufficient: samples that each side needs.
  std::string reason;                ///< incomparable: why.

  bool is_judged() const { return p.has_value(); }
};

/// The verdicts of a family, in its order.
std::vector<TimeVerdict> judge_times(std::span<const TimeSamples> family, const TimeLimits& limits);

}  // namespace syscost::bench::stats
