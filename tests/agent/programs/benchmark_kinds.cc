// SPDX-License-Identifier: MIT
//
// Benchmarks with known calls of getppid, in the shapes that each version of Google Benchmark since 1.5 has. For the
// matrix.
#include <benchmark/benchmark.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

void BM_BesideTheLoop(benchmark::State& state) {
  call(50);
  for (auto _ : state) call(3);
  call(50);
}
BENCHMARK(BM_BesideTheLoop);

void BM_Argument(benchmark::State& state) {
  for (auto _ : state) call(static_cast<int>(state.range(0)));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(BM_Argument)->Arg(1)->Arg(16);
BENCHMARK(BM_Argument)->Range(1, 8)->Complexity();

void BM_Pauses(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    call(7);
    state.ResumeTiming();
    call(2);
  }
}
BENCHMARK(BM_Pauses);

void BM_Threads(benchmark::State& state) {
  for (auto _ : state) call(2);
}
BENCHMARK(BM_Threads)->Threads(2)->Threads(4);

void BM_ManualTime(benchmark::State& state) {
  for (auto _ : state) {
    call(4);
    state.SetIterationTime(1e-5);
  }
}
BENCHMARK(BM_ManualTime)->UseManualTime();

/// It reads the clock by which the loop's end is known.
void BM_ReadsTheClock(benchmark::State& state) {
  for (auto _ : state) {
    call(4);
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  }
}
BENCHMARK(BM_ReadsTheClock)->UseRealTime();
BENCHMARK(BM_ReadsTheClock)->MeasureProcessCPUTime();

void BM_CallsOnce(benchmark::State& state) {
  bool is_first = true;
  for (auto _ : state) {
    if (is_first) call(9);
    is_first = false;
    call(1);
  }
}
BENCHMARK(BM_CallsOnce);
BENCHMARK(BM_CallsOnce)->Iterations(20);
BENCHMARK(BM_CallsOnce)->Repetitions(3);

void BM_Fails(benchmark::State& state) {
  state.SkipWithError("as it should");
  for (auto _ : state) call(1);
}
BENCHMARK(BM_Fails);

void BM_KeepRunning(benchmark::State& state) {
  while (state.KeepRunning()) call(8);
}
BENCHMARK(BM_KeepRunning);

void BM_Batch(benchmark::State& state) {
  while (state.KeepRunningBatch(10)) call(10);
}
BENCHMARK(BM_Batch);

class BM_Fixture  // NOLINT(readability-identifier-naming): a benchmark's name begins with it
    : public benchmark::Fixture {
 public:
  void SetUp(const benchmark::State& /*state*/) override { call(30); }
  void TearDown(const benchmark::State& /*state*/) override { call(30); }
};
BENCHMARK_F(BM_Fixture, Two)(benchmark::State& state) {
  for (auto _ : state) call(2);
}

}  // namespace

BENCHMARK_MAIN();
