// SPDX-License-Identifier: MIT
//
// One source for two programs, linked with syscost::benchmark and not: their times must not differ.
#include <benchmark/benchmark.h>
#include <unistd.h>

namespace {

void BM_Getppid(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(getppid());
}
BENCHMARK(BM_Getppid);

}  // namespace

BENCHMARK_MAIN();
