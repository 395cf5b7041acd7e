// SPDX-License-Identifier: MIT
//
// Record: the counting process's result for one benchmark, and the lines that it sends for it.
//
//     start BACKEND NOTE | unavailable REASON FIX      once
//     name NAME                                        for each benchmark that will run, in order
//     listed
//     probing | probed                                 around passes that are not counted (unseen_loops.h)
//     running POSITION                                 a benchmark's first loop begins; from 0, in the order of names
//     pass ITERATIONS COST                             for each pass of the benchmark that follows
//     done POSITION FAMILY INSTANCE REPETITIONS REASON FIX NAME
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/benchmark/timed_run.h"
#include "syscost/cost.h"

namespace syscost::benchmark_adapter {

/// One run of a benchmark's loop on all its threads.
struct Pass {
  std::uint64_t iterations = 0;  ///< Over all threads.
  Cost cost;
};

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

}  // namespace syscost::benchmark_adapter
