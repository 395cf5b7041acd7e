// SPDX-License-Identifier: MIT
//
// Counts: what counting processes found out, by benchmark, joined with what this process timed into rows of the CSV.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "adapters/benchmark/figures.h"
#include "adapters/benchmark/record.h"
#include "adapters/benchmark/versions.h"

namespace syscost::benchmark_adapter {

/// Of one call of RunSpecifiedBenchmarks().
class Counts {
 public:
  /// A record without a key is known by its name, and by how many benchmarks before it have the same: `before`.
  void add(Record record, std::size_t before);
  /// Null where there are none.
  const Figures* figures(const Run& run);

  /// Writes the rows of these runs. A second reporter shows the same runs: they are written once. Where the last one
  /// has been shown aggregates and no repetition, a row without times stands for all.
  void write_rows(const std::vector<Run>& runs, bool is_last_reporter);

 private:
  struct Entry {
    Record record;
    std::optional<Figures> figures;
  };

  const Entry* find(const Run& run);
  /// The pass that goes with repetition `repetition` of `repetitions`; null when there is none.
  static const Pass* pass_of(const Record& record, std::size_t repetition, std::size_t repetitions);
  std::uint64_t first_repetition(const Run& run, std::uint64_t repetitions);
  void explain_missing(const Entry& entry, const Run& run);

  std::map<Key, Entry> by_key_;
  std::map<std::pair<std::string, std::size_t>, Entry> by_name_;  // those without a key
  std::map<std::string, std::set<Key>> seen_;                     // of those that were reported, by name
  std::map<Key, std::uint64_t> first_repetitions_;
  std::set<std::pair<Key, std::int64_t>> written_;
  std::set<Key> explained_;
};

}  // namespace syscost::benchmark_adapter
