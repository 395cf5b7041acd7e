// SPDX-License-Identifier: MIT
//
// The classes of reporters in a program with Google Benchmark, which hear of each call of RunSpecifiedBenchmarks(): one
// of its start, its benchmarks and its end. A second one may hear of the same, for a file.
#pragma once

#include "agent/find/classes.h"
#include "agent/find/overridden.h"

namespace syscost::agent::benchmark {

/// The slots of BenchmarkReporter.
struct ReporterSlots {
  int context;
  int config;  ///< -1 before 1.8.
  int runs;
  int finalize;
};

struct Reporters {
  Overridden functions;
  ReporterSlots slots{};
  bool has_skips = false;  ///< A run may be skipped, since 1.8.
  bool may_be_libcxx = false;
};
Reporters& reporters();

/// In a program that is counted. Puts functions in that print nothing. False where a page cannot be written.
bool hook_counting(const Modules& modules, const std::vector<Vtable>& vtables);
/// In a program that is timed. Its reporters print as ever.
bool hook_timing(const Modules& modules, const std::vector<Vtable>& vtables);

}  // namespace syscost::agent::benchmark
