// SPDX-License-Identifier: MIT
//
// The linker cannot redirect this program's calls of Google Benchmark to syscost, because they are bound before. The
// same happens if link-time optimisation takes in that library: here main() names the functions past the hooks.
#include <benchmark/benchmark.h>

#include <cstddef>

void initialize(int* argc, char** argv, void (*help)()) __asm__("__real__ZN9benchmark10InitializeEPiPPcPFvvE");
std::size_t run() __asm__("__real__ZN9benchmark22RunSpecifiedBenchmarksEv");

static void BM_Nothing(benchmark::State& state) {
  for (auto _ : state) benchmark::ClobberMemory();
}
BENCHMARK(BM_Nothing);

int main(int argc, char** argv) {
  initialize(&argc, argv, benchmark::PrintDefaultHelp);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  run();
}
