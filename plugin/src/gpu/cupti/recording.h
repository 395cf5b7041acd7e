// SPDX-License-Identifier: MIT
//
// CUPTI's activity API: recording begins, buffers come back on threads of CUPTI's, recording ends.
//
// CUPTI knows one recorder in a process and passes its callbacks nothing of ours, so what is recorded is the process's.
#pragma once

#include <cstdint>

#include "gpu/cupti/activity.h"
#include "gpu/cupti/library.h"

namespace syscost::gpu::cupti {

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
