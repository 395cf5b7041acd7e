// SPDX-License-Identifier: MIT
//
// When each warp of a GPU kernel began and ended, for GPU kernels compiled with nvcc: stamps taken inside the GPU
// kernel, in the process that tests it.
//
//     __global__ void sum_tree(const int* in, int n, int* out, syscost::gpu::Recorder recorder) {
//       syscost::gpu::Scope scope(recorder);           // entry; the exit is stamped where it ends
//       ...
//       if (is_odd) scope.mark(0);                     // reached an arm
//       scope.count();                                 // one step of this thread's work
//     }
//
//     syscost::gpu::Stamps stamps("sum_tree", grid, block);
//     sum_tree<<<grid, block>>>(in, n, out, stamps.recorder());
//     syscost::gpu::Collected collected = stamps.collect();   // waits; a GPU kernel that failed is an error
//     ASSERT_TRUE(collected.launch) << collected.failure;
//     syscost::gpu::record(*collected.launch);                // the stamps' file, and rows in the run's CSV
//
// The GPU kernel stores into its own cells and no host code runs while it does. Making Stamps and collect() call the
// driver; the running test is not charged with that. Link syscost::gpu. A level of Level::warp (the default) takes 64
// bytes for 32 threads. Time is %globaltimer's; its step is measured.
//
// This header is compiled by nvcc, CUDA 11 or later, C++17; what it includes is plain C++.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "syscost/gpu/events.cuh"
#include "syscost/gpu/reading.h"
#include "syscost/gpu/record.h"
#include "syscost/gpu/recorder.h"
#include "syscost/gpu/stamps.h"

namespace syscost::gpu {

/// What the GPU says, for BasicScope. Device code only.
struct DeviceMachine {
  __device__ static Dim3 grid_size() { return {gridDim.x, gridDim.y, gridDim.z}; }
  __device__ static Dim3 block_size() { return {blockDim.x, blockDim.y, blockDim.z}; }
  __device__ static Dim3 block() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  __device__ static Dim3 thread() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
  __device__ static unsigned long long now_ns() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
  }
  __device__ static unsigned long long cycles() { return static_cast<unsigned long long>(clock64()); }
  __device__ static unsigned int sm() {
    unsigned int number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
  }
  __device__ static Group group() {
    const unsigned int active = __activemask();
    const unsigned int number = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned int lane = number % kWarpThreads;
    const unsigned int after_first = blockDim.x * blockDim.y * blockDim.z - (number - lane);
    const unsigned int all = after_first >= kWarpThreads ? 0xffffffffU : (1U << after_first) - 1;
    return {static_cast<int>(lane) == __ffs(static_cast<int>(active)) - 1, active == all};
  }
  template <class Number>
  __device__ static void raise(Number* at, Number value) {
    atomicMax(at, value);
  }
  __device__ static void add(unsigned long long* at, unsigned long long value) { atomicAdd(at, value); }
};

/// See BasicScope (recorder.h): mark() and count().
using Scope = BasicScope<DeviceMachine>;

namespace detail {

static __global__ void read_timer(unsigned long long* readings, unsigned int count) {
  for (unsigned int i = 0; i < count; ++i) readings[i] = DeviceMachine::now_ns();
}

/// Answers the host's questions with the time, until `count` were asked or none came for a second.
static __global__ void answer_time(volatile unsigned int* asked, volatile unsigned int* answered,
                                   volatile unsigned long long* times, unsigned int count) {
  for (unsigned int i = 1; i <= count; ++i) {
    const unsigned long long since = DeviceMachine::now_ns();
    while (*asked < i) {
      if (DeviceMachine::now_ns() - since > 1000000000ULL) return;
    }
    times[i - 1] = DeviceMachine::now_ns();
    __threadfence_system();
    *answered = i;
  }
}

inline std::uint64_t host_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U + static_cast<std::uint64_t>(now.tv_nsec);
}

inline Dim3 dim3_of(const dim3& size) {
  return {size.x, size.y, size.z};
}

}  // namespace detail

/// "" when a GPU can be used, else why not.
inline std::string why_no_gpu() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return detail::failure_of("looking for a GPU", error);
  }
  return count == 0 ? cuda_failure("looking for a GPU", "cudaErrorNoDevice", "no device") : "";
}

/// By how much %globaltimer steps on the current device: the least change among readings one after the other. Empty
/// when it could not be read.
inline Recorded measure_timer_step() {
  constexpr unsigned int kReadings = 8192;
  unsigned long long* on_device = nullptr;
  if (cudaMalloc(&on_device, kReadings * sizeof(unsigned long long)) != cudaSuccess) return std::nullopt;
  std::vector<unsigned long long> readings(kReadings);
  detail::read_timer<<<1, 1>>>(on_device, kReadings);
  const bool is_read = cudaGetLastError() == cudaSuccess &&
                       cudaMemcpy(readings.data(), on_device, kReadings * sizeof(unsigned long long),
                                  cudaMemcpyDeviceToHost) == cudaSuccess;
  static_cast<void>(cudaFree(on_device));
  return is_read ? least_step(readings.data(), readings.size()) : std::nullopt;
}

/// What the device's timer shows when the host's CLOCK_MONOTONIC shows something. Spins for less than a millisecond
/// where the GPU answers; empty where it does not within a second.
inline std::optional<ClockAnchor> measure_clock_anchor(std::uint64_t step_ns) {
  constexpr unsigned int kQuestions = 64;
  struct Mailbox {
    unsigned int asked;
    unsigned int answered;
    unsigned long long times[kQuestions];
  };
  Mailbox* mailbox = nullptr;
  if (cudaHostAlloc(&mailbox, sizeof(Mailbox), cudaHostAllocMapped) != cudaSuccess) return std::nullopt;
  *mailbox = Mailbox{};
  Mailbox* seen = nullptr;
  std::vector<HandshakeSample> samples;
  if (cudaHostGetDevicePointer(&seen, mailbox, 0) == cudaSuccess) {
    detail::answer_time<<<1, 1>>>(&seen->asked, &seen->answered, seen->times, kQuestions);
    if (cudaGetLastError() == cudaSuccess) {
      for (unsigned int i = 1; i <= kQuestions; ++i) {
        const std::uint64_t before = detail::host_now_ns();
        std::uint64_t now = before;
        __atomic_store_n(&mailbox->asked, i, __ATOMIC_RELEASE);
        while (__atomic_load_n(&mailbox->answered, __ATOMIC_ACQUIRE) < i && now - before < 1000000000ULL) {
          now = detail::host_now_ns();
        }
        now = detail::host_now_ns();
        if (__atomic_load_n(&mailbox->answered, __ATOMIC_ACQUIRE) < i) break;
        samples.push_back({before, mailbox->times[i - 1], now});
      }
    }
    __atomic_store_n(&mailbox->asked, kQuestions, __ATOMIC_RELEASE);  // lets a GPU kernel that waits end
    static_cast<void>(cudaDeviceSynchronize());
  }
  static_cast<void>(cudaFreeHost(mailbox));
  return align_clocks(samples, step_ns);
}

struct StampOptions {
  Level level = Level::warp;
  std::uint32_t marks = 0;                             ///< Marks 0 to marks - 1 can be stamped.
  std::uint64_t most_bytes = std::uint64_t{64} << 20;  ///< Of device memory; what does not fit is counted.
};

/// What collect() found: a launch, or why there is none.
struct Collected {
  std::optional<StampedLaunch> launch;
  std::string failure;
};

/// The buffer of one GPU kernel's stamps on the current device, for launches of one size. Not thread-safe; one launch
/// between two collect().
class Stamps {
 public:
  /// Where the memory cannot be had, recorder() records nothing and collect() says why.
  Stamps(std::string gpu_kernel, dim3 grid, dim3 block, StampOptions options = {})
      : layout_(Layout::of(options.level, detail::dim3_of(grid), detail::dim3_of(block), options.marks,
                           options.most_bytes)) {
    const Aside aside;
    facts_.gpu_kernel = std::move(gpu_kernel);
    failure_ = why_no_gpu();
    if (failure_.empty()) allocate();
    if (failure_.empty()) read_facts();
  }
  ~Stamps() {
    const Aside aside;
    static_cast<void>(cudaFree(memory_));
  }
  Stamps(const Stamps&) = delete;
  Stamps& operator=(const Stamps&) = delete;

  /// The GPU kernel's argument. Nothing is recorded when failure() is not empty.
  Recorder recorder() const { return recorder_; }
  const std::string& failure() const { return failure_; }

  /// How many blocks of `gpu_kernel` fit on an SM: for waves and the launch ramp.
  template <class Kernel>
  void set_occupancy_of(Kernel gpu_kernel, std::size_t shared_bytes = 0) {
    int blocks = 0;
    const auto threads = static_cast<int>(count_of(layout_.block));
    if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, gpu_kernel, threads, shared_bytes) == cudaSuccess) {
      facts_.blocks_per_sm = static_cast<std::uint64_t>(blocks);
    } else {
      static_cast<void>(cudaGetLastError());
    }
  }

  /// Times the GPU kernel without stamps and with them, in turns, by CUDA events: the median of `rounds` each. `launch`
  /// is called with a Recorder and launches the GPU kernel on the default stream. Returns what went wrong, or "".
  template <class Launch>
  std::string measure_self_cost(Launch launch, int rounds = 21) {
    const Aside aside;
    if (!failure_.empty()) return failure_;
    std::vector<std::uint64_t> plain;
    std::vector<std::uint64_t> stamped;
    detail::EventPair events;
    for (int i = -2; i < 2 * rounds && events.error() == cudaSuccess; ++i) {
      const bool is_stamped = i % 2 != 0;
      const std::uint64_t took_ns = events.time([&] { launch(is_stamped ? recorder_ : Recorder()); }, nullptr);
      if (i >= 0) (is_stamped ? stamped : plain).push_back(took_ns);
    }
    cudaError_t error = events.error();
    if (error == cudaSuccess) error = clear();
    if (error != cudaSuccess) return failure_ = detail::failure_of("timing GPU kernel " + facts_.gpu_kernel, error);
    std::sort(plain.begin(), plain.end());
    std::sort(stamped.begin(), stamped.end());
    facts_.plain_ns = plain[plain.size() / 2];
    facts_.stamped_ns = stamped[stamped.size() / 2];
    return {};
  }

  /// Waits for the device, then takes the launch's stamps out of the buffer and empties it for the next one.
  Collected collect() {
    const Aside aside;
    if (!failure_.empty()) return {std::nullopt, failure_};
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
      return {std::nullopt, detail::failure_of("launching GPU kernel " + facts_.gpu_kernel, error)};
    error = cudaDeviceSynchronize();
    if (error != cudaSuccess) return fail("running GPU kernel " + facts_.gpu_kernel, error);
    Losses losses{};
    std::vector<Cell> cells(layout_.cells);
    std::vector<MarkCell> marks(layout_.cells * layout_.marks);
    error = cudaMemcpy(&losses, recorder_.losses, sizeof(Losses), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = copy(cells, recorder_.cells);
    if (error == cudaSuccess && !marks.empty()) error = copy(marks, recorder_.mark_cells);
    if (error == cudaSuccess) error = clear();
    if (error != cudaSuccess) return fail("copying the stamps of GPU kernel " + facts_.gpu_kernel, error);
    if (std::string mismatch = mismatch_text(facts_.gpu_kernel, layout_, losses); !mismatch.empty()) {
      return {std::nullopt, std::move(mismatch)};
    }
    StampedLaunch launch = facts_;
    read_cells(layout_, losses, cells.data(), marks.data(), launch);
    if (launch.scopes.empty() && losses.overflowed == 0) {
      return {std::nullopt, "GPU kernel " + facts_.gpu_kernel +
                                " stamped nothing: was it launched with stamps.recorder(), and "
                                "does it make a syscost::gpu::Scope?"};
    }
    ++facts_.launch;
    return {std::move(launch), {}};
  }

 private:
  template <class Part>
  static cudaError_t copy(std::vector<Part>& to, const Part* from) {
    return cudaMemcpy(to.data(), from, to.size() * sizeof(Part), cudaMemcpyDeviceToHost);
  }

  Collected fail(const std::string& operation, cudaError_t error) {
    failure_ = detail::failure_of(operation, error);
    recorder_ = Recorder();
    return {std::nullopt, failure_};
  }

  std::uint64_t bytes() const { return sizeof(Cell) + layout_.bytes(); }  // losses take a cell's room
  cudaError_t clear() { return cudaMemset(memory_, 0, bytes()); }

  void allocate() {
    cudaError_t error = cudaMalloc(&memory_, bytes());
    if (error == cudaSuccess) error = clear();
    if (error != cudaSuccess) {
      failure_ = detail::failure_of(
          "allocating " + std::to_string(bytes()) + " bytes for the stamps of GPU kernel " + facts_.gpu_kernel, error);
      static_cast<void>(cudaGetLastError());
      return;
    }
    static_assert(sizeof(Losses) <= sizeof(Cell), "losses take a cell's room");
    auto* const start = static_cast<char*>(memory_);
    recorder_.layout = layout_;
    recorder_.losses = reinterpret_cast<Losses*>(start);
    recorder_.cells = reinterpret_cast<Cell*>(start + sizeof(Cell));
    recorder_.mark_cells = reinterpret_cast<MarkCell*>(start + sizeof(Cell) * (1 + layout_.cells));
  }

  void read_facts() {
    int device = 0;
    int sms = 0;
    cudaDeviceProp properties{};
    if (cudaGetDevice(&device) == cudaSuccess && cudaGetDeviceProperties(&properties, device) == cudaSuccess) {
      facts_.device = properties.name;
    }
    if (cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device) == cudaSuccess && sms > 0) {
      facts_.sm_count = static_cast<std::uint64_t>(sms);
    }
    facts_.timer_step_ns = measure_timer_step();
    if (const auto anchor = measure_clock_anchor(facts_.timer_step_ns.value_or(0))) {
      facts_.gpu_anchor_ns = anchor->gpu_ns;
      facts_.host_anchor_ns = anchor->host_ns;
      facts_.anchor_error_ns = anchor->error_ns;
    }
    static_cast<void>(cudaGetLastError());  // what could not be read stays empty
  }

  Layout layout_;
  StampedLaunch facts_;
  Recorder recorder_;
  void* memory_ = nullptr;
  std::string failure_;
};

}  // namespace syscost::gpu
