// SPDX-License-Identifier: MIT
//
// Annotator: stands before a reporter, and adds what was counted to what was timed.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "adapters/benchmark/figures.h"
#include "adapters/benchmark/record.h"
#include "adapters/benchmark/versions.h"

namespace syscost::benchmark_adapter {

/// What the counting process found out, by benchmark; and which rows are in the CSV already.
class Counts {
 public:
  void add(Record record);
  const Record* find(const Key& key) const;
  /// Null where there are none.
  const Figures* figures(const Key& key) const;

  /// Writes the rows of these runs. A second reporter shows the same runs: they are written once.
  void write_rows(const std::vector<Run>& runs);

 private:
  /// The pass that goes with repetition `repetition` of `repetitions`; null when there is none.
  static const Pass* pass_of(const Record& record, std::size_t repetition, std::size_t repetitions);
  void explain_missing(const Record* record, const Run& run);

  std::map<Key, Record> records_;
  std::map<Key, Figures> figures_;
  std::set<std::pair<Key, std::int64_t>> written_;
  std::set<Key> explained_;
};

class Annotator : public Reporter {
 public:
  /// Both must outlive it. With `shows` false it only writes rows.
  Annotator(Reporter& inner, Counts& counts, bool shows = true);

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
};

}  // namespace syscost::benchmark_adapter
