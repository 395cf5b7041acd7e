// SPDX-License-Identifier: MIT
//
// Gathering: gets the counts of all benchmarks from counting processes.
//
// One process counts them all, unless a benchmark ends it: by a crash, an exception, exit(). Such a benchmark has no
// counts, a message names it, and another process goes on after it. Each process begins at a later benchmark than the
// one before, so there are never more processes than benchmarks.
//
// If the program fails while it is counted, only counts are missing: it was not written to be run like that, and its
// exit code is its own (docs/decisions/0013).
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
