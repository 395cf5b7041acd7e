// SPDX-License-Identifier: MIT
//
// Tests of GoogleTest and benchmarks of Google Benchmark in one program: main() runs the ones, then the others.
#include <benchmark/benchmark.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

TEST(Calls, Five) {
  for (int i = 0; i < 5; ++i) syscall(SYS_getppid);
}

void one_call(benchmark::State& state) {
  while (state.KeepRunning()) syscall(SYS_getppid);
}
BENCHMARK(one_call)->Iterations(10);

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  benchmark::Initialize(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  benchmark::RunSpecifiedBenchmarks();
  return failed;
}
