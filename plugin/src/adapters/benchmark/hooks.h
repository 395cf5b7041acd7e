// SPDX-License-Identifier: MIT
//
// Google Benchmark's own functions, for the hooks, which the linker calls in their place (`--wrap`).
//
// A reference to FUNCTION from any object of the program goes to __wrap_FUNCTION in hooks.cc, and __real_FUNCTION is
// the library's own. So the user's code stays as it is, and every main works, also the one of libbenchmark_main.a. We
// do not see calls of a shared library that is not linked so.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>

namespace syscost::benchmark_adapter {

std::size_t real_run(::benchmark::BenchmarkReporter* display, ::benchmark::BenchmarkReporter* file, std::string spec);
void real_initialize(int* argc, char** argv);

}  // namespace syscost::benchmark_adapter
