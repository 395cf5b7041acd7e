// SPDX-License-Identifier: MIT
//
// What Google Benchmark reports of a repetition or of an aggregate, and what syscost asks of a loop, without its
// headers: for programs that were compiled with them, and for those that are read in memory (agent/benchmark).
#pragma once

#include <cstdint>
#include <string>

namespace syscost::benchmark_adapter {

/// Identifies a benchmark within a run of benchmarks, because names need not be unique.
struct Key {
  std::int64_t family = 0;
  std::int64_t instance = 0;
  bool operator<(const Key& other) const {
    return family != other.family ? family < other.family : instance < other.instance;
  }
};

struct TimedRun {
  std::string name;
  Key key;
  bool is_repetition = true;   ///< And not an aggregate of several.
  std::string aggregate_name;  ///< "mean", "median", ...
  const char* outcome = "passed";
  std::string message;  ///< Why it failed or was skipped.
  std::uint64_t iterations = 0;
  std::int64_t repetition = 0;
  std::int64_t repetitions = 0;
  double real_seconds = 0;  ///< Over all iterations.
  double cpu_seconds = 0;

  bool has_passed() const { return outcome[0] == 'p'; }
};

/// A loop of a benchmark that begins on a thread.
struct LoopStart {
  int thread = 0;
  int threads = 1;
  std::uint64_t iterations = 0;  ///< Of this thread.
};

/// What is to be done with a loop that has ended.
struct LoopEnd {
  bool is_long_enough = false;  ///< Google Benchmark is not to try a longer pass.
  /// Exactly one repetition stays without an error. If two runs have none and the first has one, ComputeStats()
  /// crashes. If every run of a family has one, Google Benchmark crashes in a Complexity() that a library without our
  /// hooks called.
  bool may_have_error = false;
};

}  // namespace syscost::benchmark_adapter
