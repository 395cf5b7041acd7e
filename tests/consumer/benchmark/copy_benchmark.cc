// SPDX-License-Identifier: MIT
//
// A user's benchmark, which knows nothing of syscost.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

static void BM_ReadsThrice(benchmark::State& state) {
  const int file = open("/dev/zero", O_RDONLY);
  char byte = 0;
  for (auto _ : state) {
    for (int i = 0; i < 3; ++i) benchmark::DoNotOptimize(read(file, &byte, 1));
  }
  close(file);
}
BENCHMARK(BM_ReadsThrice);

#ifndef OWN_MAIN
BENCHMARK_MAIN();
#endif
