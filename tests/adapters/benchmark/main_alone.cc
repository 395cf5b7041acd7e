// SPDX-License-Identifier: MIT
//
// A main() for benchmarks that are elsewhere; or, in a shared library, for those of a program without one.
#include <benchmark/benchmark.h>

BENCHMARK_MAIN();
