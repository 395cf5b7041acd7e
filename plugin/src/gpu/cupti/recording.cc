// SPDX-License-Identifier: MIT
#include "gpu/cupti/recording.h"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace syscost::gpu::cupti {
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
