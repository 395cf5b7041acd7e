// SPDX-License-Identifier: MIT
//
// changes: what changed between two runs and why, and the history of a test over many runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/run.h"

namespace syscost::bench::report {

/// A test of the comparison, in the words of `bench compare`.
struct ComparedTest {
  std::string name;
  std::string verdict;
  bool is_worse = false;
  bool is_better = false;
  std::string calls;                 ///< `3 -> 102`
  std::optional<double> more_calls;  ///< 99; to sort by.
  std::string time;                  ///< Empty where no time was judged.
  std::optional<double> time_ratio;  ///< NEW's wall time in OLD's; to sort by.
  std::string change;                ///< `+99 write`
  std::vector<std::string> causes;   ///< `write: +99 at src/log.cc:10 Log::batch (new)`, or the reason of the verdict.
};

struct Comparison {
  std::string conclusion;  ///< `red, exit code 1: ...`
  bool is_red = false;
  std::string verdicts;            ///< `1 regressed, 14 same`
  std::vector<std::string> lines;  ///< The lines that say what OLD and NEW are, laws that changed, notes.
  std::vector<std::string> warnings;
  std::vector<ComparedTest> tests;  ///< Those that changed, the worst first.
};

/// Names of tests are links to `run`, if it has them.
std::string comparison_section(const Run& run, const Comparison& comparison);

/// The charts of one test and its steps: its calls and its wall time in each run, and where they changed. Empty if
/// there are fewer than two runs.
std::string history_chart(const std::vector<HistoryPoint>& points);

/// All tests together: the sums of each run, and the tests that changed.
std::string history_section(const Run& run);

}  // namespace syscost::bench::report
