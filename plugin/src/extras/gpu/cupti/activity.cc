// SPDX-License-Identifier: MIT
#include "extras/gpu/cupti/activity.h"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

namespace syscost::gpu::cupti {
namespace {

template <class T>
T at(const std::uint8_t* record, std::size_t offset) {
  T value;
  std::memcpy(&value, record + offset, sizeof value);
  return value;
}

/// `kind`: a CUpti_ActivityMemcpyKind. Arrays are device memory.
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

namespace {

constexpr std::array kKinds = {kConcurrentKernel, kMemcpy, kMemcpyPeer, kRuntimeCall, kDriverCall};
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
static_assert(alignof(std::max_align_t) >= 8, "as records must lie");

/// Never destroyed: CUPTI's threads may outlive main().
struct Recording {
  std::mutex mutex;
  Activity activity;
  Functions call;
  void* subscriber = nullptr;
};

Recording& recording() {
  static auto* const made = new Recording;
  return *made;
}

void ignore(void* /*user*/, int /*domain*/, std::uint32_t /*id*/, const void* /*data*/) {}

/// No memory: CUPTI drops records and counts them.
void request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::malloc(kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *most_records = 0;  // as many as fit
}

void take_buffer(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t /*size*/,
                 std::size_t valid_size) {
  Recording& own = recording();
  {
    const std::lock_guard guard(own.mutex);
    std::uint8_t* record = nullptr;
    while (valid_size > 0 && own.call.next_record(buffer, valid_size, &record) == kSuccess) own.activity.take(record);
    // Asking also sets the count back.
    std::size_t dropped = 0;
    if (own.call.dropped_records(context, stream, &dropped) == kSuccess) own.activity.dropped += dropped;
  }
  std::free(buffer);
}

}  // namespace

RecordingStart start_recording(const Library& library) {
  Recording& own = recording();
  {
    const std::lock_guard guard(own.mutex);
    own.call = library.call;
    own.activity = Activity();
  }
  RecordingStart start;
  // Subscribes to nothing. It fails if another subscriber is there: our callbacks would silently replace its own.
  start.status = own.call.subscribe(&own.subscriber, ignore, nullptr);
  if (start.status != kSuccess) return start;
  start.is_subscribed = true;
  start.status = own.call.register_callbacks(request_buffer, take_buffer);
  std::size_t enabled = 0;
  while (start.status == kSuccess && enabled < kKinds.size()) {
    start.status = own.call.enable(static_cast<int>(kKinds[enabled]));
    if (start.status == kSuccess) ++enabled;
  }
  if (start.status == kSuccess) return start;
  while (enabled-- > 0) static_cast<void>(own.call.disable(static_cast<int>(kKinds[enabled])));
  static_cast<void>(own.call.unsubscribe(std::exchange(own.subscriber, nullptr)));
  return start;
}

Result<Activity> stop_recording(const Library& library) {
  constexpr std::uint32_t kUnfinishedToo = 1;
  Status flushed = library.call.flush(0);
  if (flushed == kSuccess) flushed = library.call.flush(kUnfinishedToo);
  for (const ActivityKind kind : kKinds) static_cast<void>(library.call.disable(static_cast<int>(kind)));
  Recording& own = recording();
  static_cast<void>(library.call.unsubscribe(std::exchange(own.subscriber, nullptr)));
  const std::lock_guard guard(own.mutex);
  std::size_t dropped = 0;
  if (library.call.dropped_records(nullptr, 0, &dropped) == kSuccess) own.activity.dropped += dropped;
  Activity activity = std::exchange(own.activity, Activity());
  if (flushed == kSuccess) return activity;
  return Failure{"CUPTI (" + library.path + ") did not deliver its records: " + library.status_text(flushed),
                 "check whether a GPU kernel crashed: after a crash the process cannot use the GPU"};
}

}  // namespace syscost::gpu::cupti
