// SPDX-License-Identifier: MIT
//
// In the counting process: makes a record of each benchmark that Google Benchmark reports, and sends it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "adapters/benchmark/timed_run.h"
#include "syscost/cost.h"

namespace syscost::benchmark_adapter {

class RecordSender {
 public:
  /// Where the benchmark stands that is reported after `done` others; nothing = it was not expected.
  using PositionOf = std::function<std::optional<std::size_t>(std::size_t done)>;

  /// With `has_keys` false the benchmarks are not all that would run, and their keys are other ones. `stop_message`: an
  /// error that syscost set itself; empty = it sets none. `unseen`: why a loop was not seen; nothing = Passes knows.
  RecordSender(PositionOf position_of, bool has_keys, std::string stop_message,
               std::optional<Unavailable> unseen = std::nullopt);

  void report(const std::vector<TimedRun>& runs);

 private:
  void expect_next() const;

  const PositionOf position_of_;
  const bool has_keys_;
  const std::string stop_message_;
  const std::optional<Unavailable> unseen_;
  std::size_t done_ = 0;
};

}  // namespace syscost::benchmark_adapter
