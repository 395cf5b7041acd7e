// SPDX-License-Identifier: MIT
//
// The names under which the hooks call Google Benchmark's own functions.
//
// The linker option `--wrap` makes each object of the program call __wrap_FUNCTION (hooks.cc) instead of FUNCTION.
// __real_FUNCTION is the library's own function. The user's code does not change, and each main works, also the main of
// libbenchmark_main.a. A shared library that was linked without this option calls FUNCTION, and the hooks miss that.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>

namespace syscost::benchmark_adapter {

std::size_t real_run(::benchmark::BenchmarkReporter* display, ::benchmark::BenchmarkReporter* file, std::string spec);
void real_initialize(int* argc, char** argv);

}  // namespace syscost::benchmark_adapter
