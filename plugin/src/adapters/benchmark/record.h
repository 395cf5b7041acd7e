// SPDX-License-Identifier: MIT
//
// Record: what is known of one benchmark. TimedRun: what Google Benchmark reports of it. The lines by which the
// counting process sends its record, and the object that sends them.
//
// Needs no header of Google Benchmark: for programs that were compiled with them, and for those that are read in memory
// (agent/benchmark).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "syscost/cost.h"

namespace syscost::benchmark_adapter {

/// Identifies a benchmark within a run of benchmarks, because names need not be unique.
struct Key {
  std::int64_t family = 0;
  std::int64_t instance = 0;
  bool operator<(const Key& other) const {
    return family != other.family ? family < other.family : instance < other.instance;
  }
};

/// A repetition or an aggregate, as Google Benchmark reports it.
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
  std::uint64_t iterations = 0;  ///< This thread's.
};

/// The treatment of a loop that has ended.
struct LoopEnd {
  bool is_long_enough = false;  ///< Google Benchmark is not to try a longer pass.
  /// Exactly one repetition stays without an error. If two runs have none and the first has one, ComputeStats()
  /// crashes. If every run of a family has one, Google Benchmark crashes in a Complexity() that a library without our
  /// hooks called.
  bool may_have_error = false;
};

// The lines that the counting process sends for a benchmark:
//
//     start BACKEND NOTE | unavailable REASON FIX      once
//     name NAME                                        for each benchmark that will run, in order
//     listed
//     probing | probed                                 around passes that are not counted (hooks.h)
//     running POSITION                                 a benchmark's first loop begins; from 0, in the order of names
//     pass ITERATIONS COST                             for each pass of the benchmark that follows
//     done POSITION FAMILY INSTANCE REPETITIONS REASON FIX NAME

/// One run of a benchmark's loop on all its threads.
struct Pass {
  std::uint64_t iterations = 0;  ///< Over all threads.
  Cost cost;
};

/// The counting process's result for one benchmark.
struct Record {
  std::size_t position = 0;  ///< Among the names.
  std::optional<Key> key;    ///< Empty if the counting run had other benchmarks than the timing one.
  std::string name;
  std::vector<Pass> passes;            ///< In order: growing ones first, then one for each repetition.
  std::size_t repetitions = 0;         ///< So many passes at the end are repetitions.
  std::optional<Unavailable> why_not;  ///< Why the passes have no counts.
};

/// The fields of a line.
std::vector<std::string_view> split_fields(std::string_view line);

void send_start(const std::string& backend, const std::string& note, const std::optional<Unavailable>& why_not);
void send_names(const std::vector<std::string>& names);
void send_running(std::size_t position);
void send_record(const Record& record);

/// Adds a `pass` or `done` line to `record`; true if it is complete. Other lines change nothing.
bool receive(std::string_view line, Record& record);

/// In the counting process: makes a record of each benchmark that Google Benchmark reports, and sends it.
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
