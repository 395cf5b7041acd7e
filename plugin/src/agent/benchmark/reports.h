// SPDX-License-Identifier: MIT
//
// What reporters get in one call of RunSpecifiedBenchmarks(): which benchmark it is, from 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/benchmark/timed_run.h"

namespace syscost::agent::benchmark {

/// Of one reporter.
class Reports {
 public:
  /// Counts on where these are of another benchmark than the last ones: aggregates come after the repetitions, or
  /// instead of them. Gives runs without a key the position as key.
  void add(std::vector<benchmark_adapter::TimedRun>& runs) {
    if (runs.empty()) return;
    const bool are_repetitions = runs.front().is_repetition;
    // The aggregates of Complexity() have the family's name.
    const bool are_of_last =
        !are_repetitions && had_repetitions_ && last_.compare(0, runs.front().name.size(), runs.front().name) == 0;
    if (!are_of_last) ++count_;
    had_repetitions_ = are_repetitions;
    last_ = runs.front().name;
    for (benchmark_adapter::TimedRun& run : runs) {
      if (run.key.family < 0) run.key = {static_cast<std::int64_t>(count_) - 1, 0};
    }
  }
  /// How many benchmarks were reported.
  std::size_t count() const { return count_; }

 private:
  std::size_t count_ = 0;
  bool had_repetitions_ = false;
  std::string last_;
};

}  // namespace syscost::agent::benchmark
