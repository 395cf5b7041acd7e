// SPDX-License-Identifier: MIT
//
// Gets the counts of all benchmarks from counting processes, as adapters/benchmark/gathering.h does in a program that
// is linked with us. There the names of all benchmarks are known before the first runs; here each is known when it is
// done.
#pragma once

#include <cstddef>

#include "adapters/benchmark/counts.h"
#include "syscost/adapter.h"

namespace syscost::agent::benchmark {

/// True where no filter leaves benchmarks out.
bool selects_all();

/// Fills `counts` for the call of RunSpecifiedBenchmarks() number `call`, and prints the reason for each benchmark that
/// is left out. Ends the program with 2 if no backend works.
void gather_counts(benchmark_adapter::Counts& counts, adapter::Framework& framework, std::size_t call);

}  // namespace syscost::agent::benchmark
