// SPDX-License-Identifier: MIT
//
// A benchmark program with a memory manager of its own, and a main() that runs its benchmarks twice. It prints how
// often the manager was used.
#include <benchmark/benchmark.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

namespace {

class Manager : public benchmark::MemoryManager {
 public:
  int starts = 0;
  int stops = 0;

 private:
  // NOLINTBEGIN(modernize-use-override): 1.7 declares both Stop, 1.9 only the one with a reference
  void Start() { ++starts; }
  void Stop(Result* result) { stop(*result); }
  void Stop(Result& result) { stop(result); }
  // NOLINTEND(modernize-use-override)
  void stop(Result& result) {
    ++stops;
    result.num_allocs = 16;
  }
};

void BM_Twice(benchmark::State& state) {
  for (auto _ : state) {
    syscall(SYS_getppid);
    syscall(SYS_getppid);
  }
}
BENCHMARK(BM_Twice);

/// Fewer iterations than the manager's pass would have otherwise.
void BM_Few(benchmark::State& state) {
  for (auto _ : state) syscall(SYS_getppid);
}
BENCHMARK(BM_Few)->Iterations(5);

struct Other {
  virtual ~Other() = default;
  virtual void nothing() {}
};
/// A class with two bases.
class BM_Bases  // NOLINT(readability-identifier-naming): a benchmark's name begins with it
    : public benchmark::Fixture,
      public Other {};
BENCHMARK_F(BM_Bases, One)(benchmark::State& state) {
  for (auto _ : state) syscall(SYS_getppid);
}

}  // namespace

int main(int argc, char** argv) {
  Manager manager;
  benchmark::RegisterMemoryManager(&manager);
  benchmark::Initialize(&argc, argv);
  benchmark::ConsoleReporter reporters[2];  // with its own, Google Benchmark 1.7 can run only once
  const std::size_t first = benchmark::RunSpecifiedBenchmarks(&reporters[0]);
  const std::size_t second = benchmark::RunSpecifiedBenchmarks(&reporters[1], "BM_Few");
  std::fprintf(stderr, "ran %zu and %zu, %d starts, %d stops\n", first, second, manager.starts, manager.stops);
  return 3;
}
