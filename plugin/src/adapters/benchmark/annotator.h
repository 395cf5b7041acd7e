// SPDX-License-Identifier: MIT
//
// Annotator: a reporter in front of another one, which adds the counts to the timed runs.
#pragma once

#include <vector>

#include "adapters/benchmark/counts.h"
#include "adapters/benchmark/versions.h"

namespace syscost::benchmark_adapter {

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

}  // namespace syscost::benchmark_adapter
