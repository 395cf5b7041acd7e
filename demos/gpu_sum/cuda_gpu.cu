// SPDX-License-Identifier: MIT
//
// The sum suite's GPU on CUDA's runtime API.
#include <cuda_runtime.h>

#include <cstdlib>
#include <string>

#include "gpu.h"
#include "kernels.cuh"

namespace gpu_sum {
namespace {

__global__ void add_naive(const std::uint32_t* numbers, std::size_t count, std::uint32_t* sum) {
  naive_part(numbers, count, sum);
}

__global__ void add_tree(const std::uint32_t* numbers, std::size_t count, std::uint32_t* sum) {
  tree_part(numbers, count, sum);
}

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // CUDA keeps it, and the next launch would seem to have failed
  throw GpuError(std::string(call) + ": " + cudaGetErrorName(error) + ", " + cudaGetErrorString(error));
}

class CudaGpu final : public Gpu {
 public:
  CudaGpu() {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    name_ = std::string("CUDA: ") + properties.name;
    check(cudaSetDevice(0), "cudaSetDevice");
    // What waits by spinning spins; what blocks asks for it by an event of its own.
    check(cudaSetDeviceFlags(cudaDeviceScheduleSpin), "cudaSetDeviceFlags");
    check(cudaStreamCreate(&stream_), "cudaStreamCreate");
    check(cudaEventCreateWithFlags(&spinning_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    check(cudaEventCreateWithFlags(&blocking_, cudaEventDisableTiming | cudaEventBlockingSync),
          "cudaEventCreateWithFlags");
  }
  ~CudaGpu() override {
    // At the end of the program no code is left that could handle an error.
    static_cast<void>(cudaEventDestroy(blocking_));
    static_cast<void>(cudaEventDestroy(spinning_));
    static_cast<void>(cudaStreamDestroy(stream_));
  }

  std::string name() const override { return name_; }

  DeviceMemory allocate(std::size_t bytes) override {
    DeviceMemory memory;
    check(cudaMalloc(&memory.handle, bytes), "cudaMalloc");
    return memory;
  }
  void free(DeviceMemory memory) override { check(cudaFree(memory.handle), "cudaFree"); }

  HostBuffer allocate_host(std::size_t bytes, HostMemory kind) override {
    HostBuffer buffer{nullptr, nullptr, kind};
    if (kind == HostMemory::pinned) {
      check(cudaMallocHost(&buffer.data, bytes), "cudaMallocHost");
    } else {
      buffer.data = std::malloc(bytes);
      if (buffer.data == nullptr) throw GpuError("malloc: no memory");
    }
    return buffer;
  }
  void free_host(HostBuffer buffer) override {
    if (buffer.kind == HostMemory::pinned) {
      check(cudaFreeHost(buffer.data), "cudaFreeHost");
    } else {
      std::free(buffer.data);
    }
  }

  void copy_in(DeviceMemory to, std::size_t offset_bytes, const void* from, std::size_t bytes) override {
    check(cudaMemcpyAsync(static_cast<char*>(to.handle) + offset_bytes, from, bytes, cudaMemcpyHostToDevice, stream_),
          "cudaMemcpyAsync to the device");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }
  void copy_out(void* to, DeviceMemory from, std::size_t bytes) override {
    check(cudaMemcpyAsync(to, from.handle, bytes, cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync to the host");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

  void launch(Reduction reduction, DeviceMemory numbers, std::size_t count, DeviceMemory sum) override {
    if (count == 0) return;  // a grid of no blocks is an error
    const auto* from = static_cast<const std::uint32_t*>(numbers.handle);
    auto* to = static_cast<std::uint32_t*>(sum.handle);
    const unsigned grid = blocks_for(count);
    if (reduction == Reduction::naive) {
      add_naive<<<grid, kBlockThreads, 0, stream_>>>(from, count, to);
    } else {
      add_tree<<<grid, kBlockThreads, 0, stream_>>>(from, count, to);
    }
    check(cudaGetLastError(), "launch");
  }
  void synchronise(Wait wait) override {
    cudaEvent_t event = wait == Wait::spin ? spinning_ : blocking_;
    check(cudaEventRecord(event, stream_), "cudaEventRecord");
    check(cudaEventSynchronize(event), "cudaEventSynchronize");
  }

 private:
  std::string name_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t spinning_ = nullptr;
  cudaEvent_t blocking_ = nullptr;
};

}  // namespace

OpenedGpu open_gpu() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  // No driver, a driver older than the runtime, no device: there is no GPU for us. Anything else is a failure of one.
  if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver || (error == cudaSuccess && devices == 0)) {
    return {nullptr, std::string("no GPU that CUDA can use: ") + cudaGetErrorString(error)};
  }
  check(error, "cudaGetDeviceCount");
  return {std::make_unique<CudaGpu>(), {}};
}

}  // namespace gpu_sum
