// SPDX-License-Identifier: MIT
//
// Gathering: gets the counts of all benchmarks from counting processes.
//
// One process counts all benchmarks, unless a benchmark ends it by a crash, an exception or exit(). Such a benchmark
// has no counts, a message names it, and another process continues after it. Each process begins at a later benchmark
// than the one before, so there are never more processes than benchmarks.
//
// If the program fails in a counting process, only counts are missing, and the exit code does not change: the program
// was not written to run like that (docs/decisions/0013).
#pragma once

#include <string>

#include "adapters/benchmark/counting_run.h"
#include "adapters/benchmark/counts.h"
#include "syscost/adapter.h"

namespace syscost::benchmark_adapter {

/// Fills `counts` for the benchmarks that `spec` selects, and prints the reason for each one that is left out. Ends the
/// program with 2 if no backend works.
void gather_counts(Counts& counts, adapter::Framework& framework, const std::string& spec, CountingRequest request);

}  // namespace syscost::benchmark_adapter
