// SPDX-License-Identifier: MIT
//
// The process that times: before its first benchmark another process counts, and it gets the counts. Then rows are
// written as Google Benchmark reports. Nothing of ours stands in the benchmarks themselves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "adapters/benchmark/counts.h"
#include "syscost/adapter.h"

namespace syscost::agent::benchmark {

/// A request of the process that times to the one that counts.
struct Request {
  std::size_t call = 0;           ///< Which call of RunSpecifiedBenchmarks(), from 0. Earlier ones run no benchmark.
  std::size_t first = 0;          ///< Benchmarks before this position have their counts.
  std::vector<std::size_t> dead;  ///< Positions of benchmarks that ended a process.

  bool wants(std::size_t position) const {
    return position >= first && std::find(dead.begin(), dead.end(), position) == dead.end();
  }
  std::string text() const {
    std::string text = std::to_string(call) + " " + std::to_string(first);
    for (const std::size_t position : dead) text += " " + std::to_string(position);
    return text;
  }
  static Request from(const std::string& text) {
    std::istringstream words(text);
    Request request;
    words >> request.call >> request.first;
    for (std::size_t position = 0; words >> position;) request.dead.push_back(position);
    return request;
  }
};

/// True where no filter leaves benchmarks out.
bool selects_all();

/// Fills `counts` for the call of RunSpecifiedBenchmarks() number `call`, and prints the reason for each benchmark that
/// is left out. Ends the program with 2 if no backend works.
///
/// adapters/benchmark/timing_run.h does the same in a program that is linked with us. There the names of all benchmarks
/// are known before the first runs; here each is known when it is done.
void gather_counts(benchmark_adapter::Counts& counts, adapter::Framework& framework, std::size_t call);

}  // namespace syscost::agent::benchmark
