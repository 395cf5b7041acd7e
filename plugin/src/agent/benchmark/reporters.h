// SPDX-License-Identifier: MIT
//
// The reporters of a program with Google Benchmark: their classes, and the benchmarks that they get in one call of
// RunSpecifiedBenchmarks(). One reporter hears of the call's start, its benchmarks and its end. A second one may hear
// of the same, for a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/benchmark/record.h"
#include "agent/find/classes.h"

namespace syscost::agent::benchmark {

/// The slots of BenchmarkReporter.
struct ReporterSlots {
  int context;
  int config;  ///< -1 before 1.8.
  int runs;
  int finalize;
};

struct Reporters {
  Overridden functions;
  ReporterSlots slots{};
  bool has_skips = false;  ///< A run may be skipped, since 1.8.
  bool may_be_libcxx = false;
};
Reporters& reporters();

/// In a program that is counted. Puts functions in that print nothing. False where a page cannot be written.
bool hook_counting(const Modules& modules, const std::vector<Vtable>& vtables);
/// In a program that is timed. Its reporters print as ever.
bool hook_timing(const Modules& modules, const std::vector<Vtable>& vtables);

/// Counts the benchmarks that one reporter gets in one call of RunSpecifiedBenchmarks(), from 0.
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
