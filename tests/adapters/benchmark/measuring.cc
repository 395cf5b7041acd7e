// SPDX-License-Identifier: MIT
//
// Benchmarks that measure and judge their own body: the verdict must be the same with and without a flag of syscost.
#include <benchmark/benchmark.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "syscost/syscost.h"

namespace {

void BM_MeasuresItsBody(benchmark::State& state) {
  for (auto _ : state) {
    const syscost::Cost cost = syscost::measure([] { syscall(SYS_getppid); });
    if (cost.calls("getppid").value_or(0) != 1) {
      state.SkipWithError(cost.to_string().c_str());
      break;
    }
  }
}
BENCHMARK(BM_MeasuresItsBody);

void BM_MeasuresAroundItsLoop(benchmark::State& state) {
  syscost::Scope scope;
  for (auto _ : state) syscall(SYS_getppid);
  const syscost::Cost cost = scope.stop();
  if (cost.calls("getppid").value_or(0) != static_cast<std::uint64_t>(state.iterations())) {
    state.SkipWithError(cost.to_string().c_str());
  }
}
BENCHMARK(BM_MeasuresAroundItsLoop);

}  // namespace

BENCHMARK_MAIN();
