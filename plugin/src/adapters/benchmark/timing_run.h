// SPDX-License-Identifier: MIT
//
// The run of benchmarks in the process that reports times: first another process counts, then this one times.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>

#include "adapters/benchmark/counting_run.h"

namespace syscost::benchmark_adapter {

/// RunSpecifiedBenchmarks() with counts: `request` is for the counting process.
std::size_t run_timing(::benchmark::BenchmarkReporter* display, ::benchmark::BenchmarkReporter* file,
                       const std::string& spec, const CountingRequest& request);

}  // namespace syscost::benchmark_adapter
