// SPDX-License-Identifier: MIT
//
// Gathering: gets the counts of all benchmarks from counting processes.
//
// One process counts them all, unless a benchmark ends it: by a crash, an exception, exit(). Such a benchmark has no
// counts, which is said with its name, and another process goes on behind it. Each process begins at a later benchmark
// than the one before, so there are never more processes than benchmarks.
//
// Whatever the program does wrong while it is counted costs counts, never more: it was not written to be run like that,
// and its exit code is its own (docs/decisions/0013).
#pragma once

#include <string>

#include "adapters/benchmark/counting_run.h"
#include "adapters/benchmark/counts.h"
#include "syscost/adapter.h"

namespace syscost::benchmark_adapter {

/// Fills `counts` with what `spec` selects, and says for each benchmark that is left out why. Ends the program with 2
/// where nothing can count.
void gather_counts(Counts& counts, adapter::Framework& framework, const std::string& spec, CountingRequest orders);

}  // namespace syscost::benchmark_adapter
