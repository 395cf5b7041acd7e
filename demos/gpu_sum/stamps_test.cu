// SPDX-License-Identifier: MIT
//
// The sum's kernels with a stamp for each warp: when each ended, and what stamping takes. The kernel without stamps is
// one without a Scope, as a user's was before.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels.cuh"
#include "reference.h"
#include "syscost/gpu.cuh"

namespace gpu_sum {
namespace {

using syscost::gpu::Recorder;

constexpr std::size_t kNumbers = std::size_t{1} << 24;
constexpr int kRounds = 101;

__global__ void add_naive(const std::uint32_t* numbers, std::size_t count, std::uint32_t* sum) {
  naive_part(numbers, count, sum);
}
__global__ void add_tree(const std::uint32_t* numbers, std::size_t count, std::uint32_t* sum) {
  tree_part(numbers, count, sum);
}
__global__ void stamped_naive(const std::uint32_t* numbers, std::size_t count, std::uint32_t* sum, Recorder recorder) {
  syscost::gpu::Scope scope(recorder);
  naive_part(numbers, count, sum);
}
__global__ void stamped_tree(const std::uint32_t* numbers, std::size_t count, std::uint32_t* sum, Recorder recorder) {
  syscost::gpu::Scope scope(recorder);
  tree_part(numbers, count, sum);
}

class GpuSumStamps : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = syscost::gpu::why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    ASSERT_EQ(cudaMalloc(&from_, kNumbers * sizeof(std::uint32_t)), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&to_, sizeof(std::uint32_t)), cudaSuccess);
    const std::vector<std::uint32_t> values = numbers(kNumbers);
    expected_ = sum_on_cpu(values);
    ASSERT_EQ(cudaMemcpy(from_, values.data(), kNumbers * sizeof(std::uint32_t), cudaMemcpyHostToDevice), cudaSuccess);
  }
  void TearDown() override {
    static_cast<void>(cudaFree(from_));
    static_cast<void>(cudaFree(to_));
  }

  template <class Plain, class Stamped>
  void run(const char* name, Plain plain, Stamped stamped) {
    const unsigned blocks = blocks_for(kNumbers);
    syscost::gpu::Stamps stamps(name, blocks, kBlockThreads);
    stamps.set_occupancy_of(stamped);
    const auto launch = [&](Recorder recorder) {
      if (recorder.cells == nullptr) {
        plain<<<blocks, kBlockThreads>>>(from_, kNumbers, to_);
      } else {
        stamped<<<blocks, kBlockThreads>>>(from_, kNumbers, to_, recorder);
      }
    };
    ASSERT_EQ(stamps.measure_self_cost(launch, kRounds), "");
    ASSERT_EQ(cudaMemset(to_, 0, sizeof(std::uint32_t)), cudaSuccess);
    launch(stamps.recorder());
    const syscost::gpu::Collected collected = stamps.collect();
    ASSERT_TRUE(collected.launch) << collected.failure;
    std::uint32_t sum = 0;
    ASSERT_EQ(cudaMemcpy(&sum, to_, sizeof sum, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(sum, expected_);
    EXPECT_EQ(syscost::gpu::record(*collected.launch), "");
  }

  std::uint32_t* from_ = nullptr;
  std::uint32_t* to_ = nullptr;
  std::uint32_t expected_ = 0;
};

TEST_F(GpuSumStamps, NaiveReduction) {
  run("add_naive", add_naive, stamped_naive);
}

TEST_F(GpuSumStamps, TreeReduction) {
  run("add_tree", add_tree, stamped_tree);
}

}  // namespace
}  // namespace gpu_sum
