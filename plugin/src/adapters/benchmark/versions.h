// SPDX-License-Identifier: MIT
//
// Where Google Benchmark's versions differ, from 1.6.2 on: one spelling for each thing.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "adapters/benchmark/record.h"

/// Found only where Google Benchmark has no such function, which came with 1.6.2, as others that the adapter calls.
namespace syscost_without_benchmark {
struct Missing {};
template <class Nothing = void>
Missing CreateDefaultDisplayReporter();  // NOLINT(readability-identifier-naming): Google Benchmark's own
}  // namespace syscost_without_benchmark
namespace syscost_with_benchmark {
using namespace benchmark;                  // NOLINT(google-build-using-namespace): what is there decides
using namespace syscost_without_benchmark;  // NOLINT(google-build-using-namespace)
static_assert(!std::is_same_v<decltype(CreateDefaultDisplayReporter()), Missing>,
              "syscost::benchmark needs Google Benchmark 1.6.2 or newer");
}  // namespace syscost_with_benchmark

namespace benchmark {

class MemoryManager;
class ProfilerManager;
// Weak: not every version has or exports them.
// NOLINTBEGIN(readability-identifier-naming): Google Benchmark's own
__attribute__((weak)) void RegisterMemoryManager(MemoryManager* manager);
__attribute__((weak)) void RegisterProfilerManager(ProfilerManager* manager);
__attribute__((weak)) void MaybeReenterWithoutASLR(int argc, char** argv);
// NOLINTEND(readability-identifier-naming)

}  // namespace benchmark

namespace syscost::benchmark_adapter {

using Reporter = ::benchmark::BenchmarkReporter;
using Run = ::benchmark::BenchmarkReporter::Run;

/// A reporter that may or may not be ours to delete.
struct MaybeOwned {
  Reporter* reporter = nullptr;
  std::unique_ptr<Reporter> owner;
};
/// 1.7.1 and 1.9 keep the default reporter themselves, what follows gives it away.
inline MaybeOwned maybe_own(Reporter* reporter) {
  return {reporter, nullptr};
}
inline MaybeOwned maybe_own(std::unique_ptr<Reporter> reporter) {
  Reporter* pointer = reporter.get();
  return {pointer, std::move(reporter)};
}

// Run::error_occurred and error_message became Run::skipped (an enumeration since 1.8) and skip_message.
template <class AnyRun>
auto outcome_of(const AnyRun& run, int) -> decltype(void(run.skipped), static_cast<const char*>(nullptr)) {
  using Skipped = decltype(run.skipped);
  if (run.skipped == Skipped{}) return "passed";
  return run.skipped == static_cast<Skipped>(1) ? "skipped" : "failed";
}
template <class AnyRun>
auto outcome_of(const AnyRun& run, long) -> decltype(void(run.error_occurred), static_cast<const char*>(nullptr)) {
  return run.error_occurred ? "failed" : "passed";
}
inline const char* outcome_of(const Run& run) {
  return outcome_of(run, 0);
}

template <class AnyRun>
auto message_of(const AnyRun& run, int) -> decltype(std::string(run.skip_message)) {
  return run.skip_message;
}
template <class AnyRun>
auto message_of(const AnyRun& run, long) -> decltype(std::string(run.error_message)) {
  return run.error_message;
}
inline std::string message_of(const Run& run) {
  return message_of(run, 0);
}

inline TimedRun timed_run_of(const Run& run) {
  TimedRun timed;
  timed.name = run.run_name.str();
  timed.key = {run.family_index, run.per_family_instance_index};
  timed.is_repetition = run.run_type == Run::RT_Iteration;
  timed.aggregate_name = run.aggregate_name;
  timed.outcome = outcome_of(run);
  timed.message = message_of(run);
  timed.iterations = static_cast<std::uint64_t>(run.iterations);
  timed.repetition = run.repetition_index;
  timed.repetitions = run.repetitions;
  timed.real_seconds = run.real_accumulated_time;
  timed.cpu_seconds = run.cpu_accumulated_time;
  return timed;
}
inline std::vector<TimedRun> timed_runs_of(const std::vector<Run>& runs) {
  std::vector<TimedRun> timed;
  for (const Run& run : runs) timed.push_back(timed_run_of(run));
  return timed;
}

// Since 1.8 reporters hear of the configuration of a benchmark before its runs.
template <class AnyReporter>
auto forward_config(AnyReporter& to, double min_time, bool has_iterations, ::benchmark::IterationCount iterations, int)
    -> decltype(to.ReportRunsConfig(min_time, has_iterations, iterations)) {
  to.ReportRunsConfig(min_time, has_iterations, iterations);
}
template <class AnyReporter>
void forward_config(AnyReporter&, double, bool, ::benchmark::IterationCount, long) {}

}  // namespace syscost::benchmark_adapter
