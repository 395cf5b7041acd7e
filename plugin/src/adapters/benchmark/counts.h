// SPDX-License-Identifier: MIT
//
// Counts: the results of counting processes, by benchmark, and the calls of one iteration in them. Joins them with
// the times of this process into rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "adapters/benchmark/record.h"
#include "syscost/counting.h"

namespace syscost::benchmark_adapter {

using adapter::Figure;

/// The calls of one iteration, separated from the calls that a run of the loop makes once: a loop that opens a file in
/// its first iteration and reads in each makes N reads and one openat.
struct Figures {
  Figure all;
  struct Named {
    std::string name;
    Figure figure;
  };
  std::vector<Named> by_syscall;  ///< Most calls first.
};

/// The growing passes that separate per-run calls from others: all but the very first, which includes lazy
/// initialisation.
std::vector<const Pass*> shorter_passes(const Record& record);

/// Empty if the passes have no exact counts.
std::optional<Figures> figures_of(const Record& record);

/// The counts of one call of RunSpecifiedBenchmarks().
class Counts {
 public:
  /// A record without a key is identified by its name, and by the number of earlier benchmarks with that name:
  /// `before`.
  void add(Record record, std::size_t before);
  /// Null if there are none.
  const Figures* figures(const TimedRun& run);

  /// Writes the rows of these runs, once, although a second reporter gets the same runs. If the last reporter got only
  /// aggregates and no repetition, one row without times is written for all.
  void write_rows(const std::vector<TimedRun>& runs, bool is_last_reporter);

 private:
  struct Entry {
    Record record;
    std::optional<Figures> figures;
  };

  const Entry* find(const TimedRun& run);
  /// The pass of repetition `repetition` of `repetitions`; null if there is none.
  static const Pass* pass_of(const Record& record, std::size_t repetition, std::size_t repetitions);
  std::uint64_t first_repetition(const TimedRun& run, std::uint64_t repetitions);
  void explain_missing(const Entry& entry, const TimedRun& run);
  void say_no_time(const TimedRun& run);

  std::map<Key, Entry> by_key_;
  std::map<std::pair<std::string, std::size_t>, Entry> by_name_;  // those without a key
  std::map<std::string, std::set<Key>> seen_;                     // of those that were reported, by name
  std::map<Key, std::uint64_t> first_repetitions_;
  std::set<std::pair<Key, std::int64_t>> written_;
  std::set<Key> explained_;
  std::set<Key> said_no_time_;
};

}  // namespace syscost::benchmark_adapter
