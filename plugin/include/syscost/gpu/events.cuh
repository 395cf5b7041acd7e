// SPDX-License-Identifier: MIT
//
// Durations by CUDA events: for copies, and for GPU kernels that are not stamped, where CUPTI is missing. They need no
// library and no permission, and no other tool prevents them. But one event is before the work in its stream and one is
// after it: the time includes what the GPU needs to go from one to the other, and its steps are about half a
// microsecond.
//
//     syscost::gpu::EventTimes times = syscost::gpu::time_by_events([&] { add<<<grid, block>>>(in, n, out); });
//     ASSERT_EQ(times.failure, "");
//     syscost::gpu::record_times("add duration (events)", times.durations_ns);   // rows of kind `gpu_kernel`
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <vector>

#include "syscost/gpu/reading.h"
#include "syscost/gpu/record.h"

namespace syscost::gpu {

namespace detail {

inline std::string failure_of(const std::string& operation, cudaError_t error) {
  return cuda_failure(operation, cudaGetErrorName(error), cudaGetErrorString(error));
}

/// Two events around work on one stream. After a failure the others fail with it.
class EventPair {
 public:
  EventPair() {
    error_ = cudaEventCreate(&begin_);
    if (error_ == cudaSuccess) error_ = cudaEventCreate(&end_);
  }
  ~EventPair() {
    if (begin_ != nullptr) static_cast<void>(cudaEventDestroy(begin_));
    if (end_ != nullptr) static_cast<void>(cudaEventDestroy(end_));
  }
  EventPair(const EventPair&) = delete;
  EventPair& operator=(const EventPair&) = delete;

  /// What `work` queues on `stream`, waited for. 0 where error() is set.
  template <class Work>
  std::uint64_t time(Work work, cudaStream_t stream) {
    if (error_ == cudaSuccess) error_ = cudaEventRecord(begin_, stream);
    if (error_ != cudaSuccess) return 0;
    work();
    error_ = cudaGetLastError();
    if (error_ == cudaSuccess) error_ = cudaEventRecord(end_, stream);
    if (error_ == cudaSuccess) error_ = cudaEventSynchronize(end_);
    float ms = 0;
    if (error_ == cudaSuccess) error_ = cudaEventElapsedTime(&ms, begin_, end_);
    return static_cast<std::uint64_t>(static_cast<double>(ms) * 1e6);
  }
  cudaError_t error() const { return error_; }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  cudaError_t error_ = cudaSuccess;
};

}  // namespace detail

/// What was timed, or why nothing was.
struct EventTimes {
  std::vector<std::uint64_t> durations_ns;  ///< In order; empty where `failure` is not.
  std::string failure;
};

/// Runs `work`, which queues something on `stream`, once to warm up and `rounds` times timed, one after the other. The
/// running test is not charged with it.
template <class Work>
EventTimes time_by_events(Work work, int rounds = 21, cudaStream_t stream = nullptr) {
  const Aside aside;
  EventTimes times;
  detail::EventPair events;
  for (int i = -1; i < rounds && events.error() == cudaSuccess; ++i) {
    const std::uint64_t took_ns = events.time(work, stream);
    if (i >= 0) times.durations_ns.push_back(took_ns);
  }
  if (events.error() == cudaSuccess) return times;
  return {{}, detail::failure_of("timing by CUDA events", events.error())};
}

}  // namespace syscost::gpu
