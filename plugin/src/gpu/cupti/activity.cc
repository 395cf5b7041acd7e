// SPDX-License-Identifier: MIT
#include "gpu/cupti/activity.h"

#include <cstring>

namespace syscost::gpu::cupti {
namespace {

template <class T>
T at(const std::uint8_t* record, std::size_t offset) {
  T value;
  std::memcpy(&value, record + offset, sizeof value);
  return value;
}

/// Of CUpti_ActivityMemcpyKind. Arrays are device memory.
Direction direction_of(std::uint8_t kind) {
  switch (kind) {
    case 1:  // HTOD
    case 3:  // HTOA
      return Direction::to_device;
    case 2:  // DTOH
    case 4:  // ATOH
      return Direction::to_host;
    case 5:  // ATOA
    case 6:  // ATOD
    case 7:  // DTOA
    case 8:  // DTOD
      return Direction::on_device;
    case 9:  // HTOH
      return Direction::on_host;
    case 10:  // PTOP
      return Direction::between_devices;
    default:
      return Direction::unknown;
  }
}

}  // namespace

bool Activity::is_readable(std::uint64_t start_ns, std::uint64_t end_ns) {
  if (start_ns == 0 || end_ns == 0) {
    ++unfinished;
    return false;
  }
  if (end_ns < start_ns) {
    ++unreadable;
    return false;
  }
  return true;
}

void Activity::take(const std::uint8_t* record) {
  const auto kind = at<std::uint32_t>(record, 0);
  const bool is_copy = kind == kMemcpy || kind == kMemcpyPeer;
  if (kind != kConcurrentKernel && !is_copy && kind != kRuntimeCall && kind != kDriverCall) return;
  if (!has_room()) {
    ++no_room;
    return;
  }
  if (kind == kConcurrentKernel) {
    GpuKernelRun run;
    run.start_ns = at<std::uint64_t>(record, layout::kGpuKernelStart);
    run.end_ns = at<std::uint64_t>(record, layout::kGpuKernelEnd);
    run.correlation = at<std::uint32_t>(record, layout::kGpuKernelCorrelation);
    if (!is_readable(run.start_ns, run.end_ns)) return;
    const auto* name = at<const char*>(record, layout::kGpuKernelName);
    const auto [found, is_new] =
        name_index_.try_emplace(name != nullptr ? name : "", static_cast<std::uint32_t>(names.size()));
    if (is_new) names.push_back(found->first);
    run.name = found->second;
    gpu_kernels.push_back(run);
  } else if (is_copy) {
    const bool is_peer = kind == kMemcpyPeer;
    Copy copy;
    copy.direction = is_peer ? Direction::between_devices : direction_of(at<std::uint8_t>(record, layout::kCopyKind));
    copy.bytes = at<std::uint64_t>(record, layout::kCopyBytes);
    copy.start_ns = at<std::uint64_t>(record, layout::kCopyStart);
    copy.end_ns = at<std::uint64_t>(record, layout::kCopyEnd);
    copy.correlation = at<std::uint32_t>(record, is_peer ? layout::kPeerCopyCorrelation : layout::kCopyCorrelation);
    if (is_readable(copy.start_ns, copy.end_ns)) copies.push_back(copy);
  } else {
    // A call of the runtime and the call of the driver that it makes share a correlation: the outer one began first.
    const auto start_ns = at<std::uint64_t>(record, layout::kCallStart);
    if (start_ns == 0) return;
    std::uint64_t& first =
        call_starts_ns.try_emplace(at<std::uint32_t>(record, layout::kCallCorrelation), start_ns).first->second;
    if (start_ns < first) first = start_ns;
  }
}

}  // namespace syscost::gpu::cupti
