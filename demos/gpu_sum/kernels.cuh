// SPDX-License-Identifier: MIT
//
// The sum's two kernels: what each thread does. cuda_gpu.cu launches them as they are, stamps_test.cu with stamps
// around them, so that both time the same work.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpu_sum {

constexpr unsigned kBlockThreads = 256;
/// Blocks are reused for what lies beyond: a grid-stride loop.
constexpr std::size_t kMaxBlocks = 4096;

inline unsigned blocks_for(std::size_t count) {
  const std::size_t blocks = (count + kBlockThreads - 1) / kBlockThreads;
  return static_cast<unsigned>(blocks < kMaxBlocks ? blocks : kMaxBlocks);
}

__device__ inline void naive_part(const std::uint32_t* numbers, std::size_t count, std::uint32_t* sum) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    atomicAdd(sum, numbers[i]);
  }
}

__device__ inline void tree_part(const std::uint32_t* numbers, std::size_t count, std::uint32_t* sum) {
  __shared__ std::uint32_t partial[kBlockThreads];
  std::uint32_t own = 0;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) own += numbers[i];
  partial[threadIdx.x] = own;
  __syncthreads();
  for (unsigned half = kBlockThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

}  // namespace gpu_sum
