// SPDX-License-Identifier: MIT
//
// The run of benchmarks in the process that reports times: it gets the counts of all benchmarks from counting
// processes, then it times, and its reporter adds the counts.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <vector>

#include "adapters/benchmark/counting_run.h"
#include "adapters/benchmark/counts.h"
#include "adapters/benchmark/versions.h"
#include "syscost/adapter.h"

namespace syscost::benchmark_adapter {

/// Fills `counts` for the benchmarks that `spec` selects, and prints the reason for each one that is left out. Ends the
/// program with 2 if no backend works.
///
/// One process counts all benchmarks, unless a benchmark ends it by a crash, an exception or exit(). Such a benchmark
/// has no counts, a message names it, and another process continues after it. Each process begins at a later benchmark
/// than the one before, so there are never more processes than benchmarks.
///
/// If the program fails in a counting process, only counts are missing, and the exit code does not change: the program
/// was not written to run like that (docs/decisions/0013).
void gather_counts(Counts& counts, adapter::Framework& framework, const std::string& spec, CountingRequest request);

/// A reporter in front of another one, which adds the counts to the timed runs.
class Annotator : public Reporter {
 public:
  /// Both must outlive it. With `shows` false it only writes rows. `is_last`: it is the last reporter that gets a
  /// benchmark's runs.
  Annotator(Reporter& inner, Counts& counts, bool shows, bool is_last);

  bool ReportContext(const Context& context) override;
  // Not an override before 1.8.
  // NOLINTNEXTLINE(readability-identifier-naming): overrides Google Benchmark's, where it has one
  virtual void ReportRunsConfig(double min_time, bool has_iterations, ::benchmark::IterationCount iterations);
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  Reporter& inner_;
  Counts& counts_;
  const bool shows_;
  const bool is_last_;
};

/// RunSpecifiedBenchmarks() with counts: `request` is for the counting process.
std::size_t run_timing(::benchmark::BenchmarkReporter* display, ::benchmark::BenchmarkReporter* file,
                       const std::string& spec, const CountingRequest& request);

}  // namespace syscost::benchmark_adapter
