// SPDX-License-Identifier: MIT
//
// main() starts the program of the variable PROGRAM before its benchmarks; and it runs again, to count.
#include <benchmark/benchmark.h>

#include <cstdlib>

namespace {

void nothing(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) benchmark::ClobberMemory();
}
BENCHMARK(nothing)->Iterations(10);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (std::system(std::getenv("PROGRAM")) != 0) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
