// SPDX-License-Identifier: MIT
//
// The GPU interface of the sum suite: the few steps that every GPU API has, so that one suite runs on all of them.
//
// cuda_gpu.cu and opencl_gpu.cc are the two implementations; each program links one. Each step is a phase, and the
// suite counts the syscalls of each phase apart: open, allocate, copy, launch, synchronise, free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace gpu_sum {

/// How the kernel adds up.
enum class Reduction {
  naive,  ///< Each element is added to the result in memory, one atomic each.
  tree,   ///< Each block adds up its elements in local memory by halves; one atomic for each block.
};

/// Where the host's side of a copy lies.
enum class HostMemory {
  pageable,  ///< From the allocator: the driver pins it for the copy, or copies twice.
  pinned,    ///< From the driver, which the device can reach as it is.
};

/// How the host waits for the device.
enum class Wait {
  spin,   ///< Asks again and again.
  block,  ///< Sleeps until the driver wakes it.
};

/// An API's call failed: which one, and its error.
class GpuError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Memory of the device; the implementation's handle.
struct DeviceMemory {
  void* handle = nullptr;
};

/// Host memory that copies start from and end in; `handle` is the implementation's.
struct HostBuffer {
  void* data = nullptr;
  void* handle = nullptr;
  HostMemory kind = HostMemory::pageable;
};

/// One device, with one queue of work in order. Every failed call of the API throws GpuError: a launch that failed is
/// never a result. For one thread at a time.
class Gpu {
 public:
  virtual ~Gpu() = default;
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  /// "CUDA: NVIDIA H100", for messages.
  virtual std::string name() const = 0;

  virtual DeviceMemory allocate(std::size_t bytes) = 0;
  virtual void free(DeviceMemory memory) = 0;
  virtual HostBuffer allocate_host(std::size_t bytes, HostMemory kind) = 0;
  virtual void free_host(HostBuffer buffer) = 0;

  /// Both return when the bytes are there.
  virtual void copy_in(DeviceMemory to, std::size_t offset_bytes, const void* from, std::size_t bytes) = 0;
  virtual void copy_out(void* to, DeviceMemory from, std::size_t bytes) = 0;

  /// Adds the `count` 32-bit integers of `numbers` to the one in `sum`, modulo 2^32. Returns once it is queued.
  virtual void launch(Reduction reduction, DeviceMemory numbers, std::size_t count, DeviceMemory sum) = 0;
  /// Returns when everything queued is done.
  virtual void synchronise(Wait wait) = 0;

 protected:
  Gpu() = default;
};

/// A GPU, or why there is none here.
struct OpenedGpu {
  std::unique_ptr<Gpu> gpu;
  std::string why_not;
};

/// Opens the first device of the API this program is linked with. Throws GpuError when there is one and it fails.
OpenedGpu open_gpu();

}  // namespace gpu_sum
