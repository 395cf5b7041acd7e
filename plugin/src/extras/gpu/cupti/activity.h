// SPDX-License-Identifier: MIT
//
// CUPTI's activity API: records GPU kernels, copies and the calls that launched them, and reads these records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "extras/gpu/cupti/library.h"

namespace syscost::gpu::cupti {

// A record is bytes in a buffer, and its struct grows with every CUPTI: the last ten GPU kernel records differ in
// length. The values read here lie at the same place in all of them from CUDA 7 to 13 (kOldestVersion, kNewestMajor; a
// test holds the numbers against the header where it is installed), so none of CUPTI's headers is needed to build, and
// one library serves all. A record with impossible times is counted and not used.

/// Offsets in bytes. In records of the kinds below the first four bytes are the kind.
namespace layout {
inline constexpr std::size_t kGpuKernelStart = 16, kGpuKernelEnd = 24, kGpuKernelCorrelation = 92, kGpuKernelName = 104;
inline constexpr std::size_t kCopyKind = 4, kCopyBytes = 8, kCopyStart = 16, kCopyEnd = 24, kCopyCorrelation = 44;
inline constexpr std::size_t kPeerCopyCorrelation = 60;  // the rest as kCopy...
inline constexpr std::size_t kCallStart = 8, kCallEnd = 16, kCallCorrelation = 32;
}  // namespace layout

/// CUPTI_API_VERSION of CUDA 11.0, the oldest that syscost/gpu.cuh compiles with.
inline constexpr std::uint32_t kOldestVersion = 13;
/// That of CUDA 13. From there on a version is 10000 for each major one; before, it is a small number.
inline constexpr std::uint32_t kNewestMajor = 13;

/// CUPTI's numbers of what is recorded.
enum ActivityKind : std::uint32_t {
  kMemcpy = 1,
  kDriverCall = 4,
  kRuntimeCall = 5,
  kConcurrentKernel = 10,
  kMemcpyPeer = 22,  ///< MEMCPY2: from one device to another, which is not among kMemcpy.
};

enum class Direction : std::uint8_t { to_device, to_host, on_device, on_host, between_devices, unknown };
inline constexpr std::size_t kDirections = 6;

struct GpuKernelRun {
  std::uint32_t name = 0;  ///< Index into Activity::names.
  std::uint32_t correlation = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
};

struct Copy {
  Direction direction = Direction::unknown;
  std::uint32_t correlation = 0;
  std::uint64_t bytes = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
};

/// The records since it was emptied. Times are CUPTI's. Not thread-safe.
struct Activity {
  std::vector<GpuKernelRun> gpu_kernels;
  std::vector<Copy> copies;
  /// The begin of a call of the runtime or driver, by correlation. A call with several correlations has several
  /// entries.
  std::unordered_map<std::uint32_t, std::uint64_t> call_starts_ns;
  std::vector<std::string> names;  ///< Those of GPU kernels, as the compiler mangled them.

  // Losses.
  std::uint64_t dropped = 0;     ///< By CUPTI, for lack of buffers.
  std::uint64_t unfinished = 0;  ///< Kernels and copies that had not ended when the window was closed.
  std::uint64_t unreadable = 0;  ///< Records with impossible times.
  std::uint64_t no_room = 0;     ///< Beyond kMostRecords.

  static constexpr std::size_t kMostRecords = std::size_t{1} << 22;

  /// Adds one record; ignores a record of another kind.
  void take(const std::uint8_t* record);
  std::uint64_t lost() const { return dropped + unfinished + unreadable + no_room; }

 private:
  std::unordered_map<std::string, std::uint32_t> name_index_;
  bool has_room() const { return gpu_kernels.size() + copies.size() + call_starts_ns.size() < kMostRecords; }
  bool is_readable(std::uint64_t start_ns, std::uint64_t end_ns);
};

// CUPTI hands the buffers with records back on threads of its own. It knows one recorder in a process and passes its
// callbacks nothing of ours, so what is recorded is the process's.

struct RecordingStart {
  Status status = kSuccess;
  bool is_subscribed = false;  ///< There was no other subscriber, also when a later step failed.
};

/// Not thread-safe; once before stop_recording(). Calls the driver.
RecordingStart start_recording(const Library& library);
/// Ends it and returns what was recorded since. Work that has not ended by then counts as unfinished: nothing is waited
/// for that the test did not wait for. Fails when CUPTI does not hand its buffers over.
Result<Activity> stop_recording(const Library& library);

}  // namespace syscost::gpu::cupti
