// SPDX-License-Identifier: MIT
//
// How Google Benchmark's objects lie in memory, in its versions 1.5 to 1.9.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapters/benchmark/record.h"

namespace syscost::agent::benchmark {

/// The beginning of benchmark::State. After it come a vector, and the argument of Complexity().
struct State {
  std::int64_t left;  ///< Iterations.
  std::int64_t left_of_batch;
  std::int64_t asked;
  bool has_started;
  bool has_finished;
  bool has_error;           ///< Up to 1.7.
  std::int32_t is_skipped;  ///< Since 1.8.
  void* arguments[3];
  std::int64_t complexity;

  std::uint64_t iterations() const { return static_cast<std::uint64_t>(asked - left + left_of_batch); }
};

/// benchmark::internal::ThreadTimer, which stands on the stack of the loop's thread.
struct ThreadTimer {
  bool is_of_process;
  volatile bool is_running;
  double start_real;
  double start_cpu;
  double real;  ///< Seconds in the loop; what Google Benchmark decides by.
  double cpu;
  double manual;
};

/// Later members of a State. Their offset differs between versions and C++ libraries.
struct StateEnd {
  int thread = 0;
  int threads = 1;
  ThreadTimer* timer = nullptr;
};

/// Before the loop of `state` begins. Nothing where it lies as in no version that is known.
std::optional<StateEnd> find_end(const State& state);

/// The runs that a reporter gets: a std::vector of Run. `has_skips`: since 1.8 a run may be skipped, before it could
/// only fail. Empty where it lies as in no version that is known. A key of -1 where the version has none.
std::vector<benchmark_adapter::TimedRun> read_runs(const void* vector, bool has_skips, bool may_be_libcxx);

}  // namespace syscost::agent::benchmark
