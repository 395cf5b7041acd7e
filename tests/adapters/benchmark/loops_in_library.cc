// SPDX-License-Identifier: MIT
//
// A benchmark that is compiled into a library.
#include <benchmark/benchmark.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

void BM_InLibrary(benchmark::State& state) {
  for (auto _ : state) syscall(SYS_getppid);
}
BENCHMARK(BM_InLibrary);

}  // namespace
