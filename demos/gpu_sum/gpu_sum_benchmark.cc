// SPDX-License-Identifier: MIT
//
// The sum over a range of sizes: what grows with the numbers, and what each sum costs however few they are.
#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "gpu.h"
#include "reference.h"

namespace gpu_sum {
namespace {

Gpu* gpu_or_skip(benchmark::State& state) {
  static const OpenedGpu opened = open_gpu();
  if (opened.gpu == nullptr) state.SkipWithError(opened.why_not.c_str());
  return opened.gpu.get();
}

std::size_t bytes_of(std::size_t count) {
  return count * sizeof(std::uint32_t);
}

/// What the CPU needs for the same: the line to beat.
void BM_CpuSum(benchmark::State& state) {
  const std::vector<std::uint32_t> values = numbers(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(sum_on_cpu(values));
  state.SetComplexityN(state.range(0));
}

/// One copy in, kernel, wait, copy out; memory is reused.
void add_up(benchmark::State& state, Reduction reduction) {
  Gpu* gpu = gpu_or_skip(state);
  if (gpu == nullptr) return;
  const std::vector<std::uint32_t> values = numbers(static_cast<std::size_t>(state.range(0)));
  const std::uint32_t expected = sum_on_cpu(values);
  const std::uint32_t zero = 0;
  DeviceMemory from = gpu->allocate(bytes_of(values.size()));
  DeviceMemory to = gpu->allocate(sizeof zero);
  for (auto _ : state) {
    std::uint32_t sum = 0;
    gpu->copy_in(to, 0, &zero, sizeof zero);
    gpu->copy_in(from, 0, values.data(), bytes_of(values.size()));
    gpu->launch(reduction, from, values.size(), to);
    gpu->synchronise(Wait::spin);
    gpu->copy_out(&sum, to, sizeof sum);
    if (sum != expected) {
      state.SkipWithError("the sum is not the CPU's");
      break;
    }
  }
  gpu->free(to);
  gpu->free(from);
  state.SetComplexityN(state.range(0));
}
void BM_NaiveSum(benchmark::State& state) {
  add_up(state, Reduction::naive);
}
void BM_TreeSum(benchmark::State& state) {
  add_up(state, Reduction::tree);
}

/// The kernel alone, on numbers that are there already.
void BM_TreeKernel(benchmark::State& state) {
  Gpu* gpu = gpu_or_skip(state);
  if (gpu == nullptr) return;
  const std::vector<std::uint32_t> values = numbers(static_cast<std::size_t>(state.range(0)));
  const std::uint32_t zero = 0;
  DeviceMemory from = gpu->allocate(bytes_of(values.size()));
  DeviceMemory to = gpu->allocate(sizeof zero);
  gpu->copy_in(to, 0, &zero, sizeof zero);
  gpu->copy_in(from, 0, values.data(), bytes_of(values.size()));
  for (auto _ : state) {
    gpu->launch(Reduction::tree, from, values.size(), to);
    gpu->synchronise(Wait::spin);
  }
  gpu->free(to);
  gpu->free(from);
  state.SetComplexityN(state.range(0));
}

/// The copy alone, from host memory of one kind.
void copy_in(benchmark::State& state, HostMemory kind) {
  Gpu* gpu = gpu_or_skip(state);
  if (gpu == nullptr) return;
  const std::size_t bytes = bytes_of(static_cast<std::size_t>(state.range(0)));
  HostBuffer host = gpu->allocate_host(bytes, kind);
  DeviceMemory device = gpu->allocate(bytes);
  for (auto _ : state) gpu->copy_in(device, 0, host.data, bytes);
  gpu->free(device);
  gpu->free_host(host);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.SetComplexityN(state.range(0));
}
void BM_PageableCopy(benchmark::State& state) {
  copy_in(state, HostMemory::pageable);
}
void BM_PinnedCopy(benchmark::State& state) {
  copy_in(state, HostMemory::pinned);
}

void BM_AllocateAndFree(benchmark::State& state) {
  Gpu* gpu = gpu_or_skip(state);
  if (gpu == nullptr) return;
  for (auto _ : state) gpu->free(gpu->allocate(bytes_of(static_cast<std::size_t>(state.range(0)))));
  state.SetComplexityN(state.range(0));
}

/// Asks a child, because opening a driver is the counting process's business: what CUDA opened, a fork cannot use.
bool has_device() {
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    try {
      _exit(open_gpu().gpu != nullptr ? 0 : 1);
    } catch (const GpuError&) {
      _exit(1);
    }
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void register_benchmarks() {
  const bool fits = has_device();
  const auto over_sizes = [&](const char* name, void (*body)(benchmark::State&), int multiplier = 16) {
    auto* one = benchmark::RegisterBenchmark(name, body);
    one->RangeMultiplier(multiplier)->Range(std::int64_t{1} << 8, std::int64_t{1} << 20)->UseRealTime();
    // The complexity fits the times with so much for each number; where it fits badly, the fixed cost decides. Google
    // Benchmark 1.7 crashes when it is asked to fit nothing, which is what it has where each size was skipped.
    if (fits) one->Complexity(benchmark::oN);
  };
  over_sizes("BM_CpuSum", BM_CpuSum);
  over_sizes("BM_NaiveSum", BM_NaiveSum);
  over_sizes("BM_TreeSum", BM_TreeSum);
  // More sizes, because bench scale separates their fixed cost from the cost of a number.
  over_sizes("BM_TreeKernel", BM_TreeKernel, 4);
  over_sizes("BM_PageableCopy", BM_PageableCopy, 4);
  over_sizes("BM_PinnedCopy", BM_PinnedCopy);
  over_sizes("BM_AllocateAndFree", BM_AllocateAndFree);
}

}  // namespace
}  // namespace gpu_sum

int main(int argc, char** argv) {
  gpu_sum::register_benchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
