// SPDX-License-Identifier: MIT
//
// The functions of Google Benchmark that the linker gives to us first (`--wrap`), as they are.
//
// A reference to FUNCTION from any object of the program goes to __wrap_FUNCTION, which stands in hooks.cc, and
// __real_FUNCTION is the library's own. So no line of the user's changes, and every main works, also the one of
// libbenchmark_main.a; what a shared library calls goes past us.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>

namespace syscost::benchmark_adapter {

std::size_t real_run(::benchmark::BenchmarkReporter* display, ::benchmark::BenchmarkReporter* file, std::string spec);
void real_initialize(int* argc, char** argv);

}  // namespace syscost::benchmark_adapter
