// SPDX-License-Identifier: MIT
//
// The proof that the scheduler's events are kept, have our clock, and name the right wakers.
#pragma once

#include <string>

#include "core/backend.h"
#include "core/scheduler_trace.h"
#include "os/result.h"

namespace syscost::ebpf {

/// Wakes this thread by a child's end and by a timer, and looks at the events of both. Between windows only. The
/// remark that it returns says if the kernel does not show wakers; otherwise it is empty.
Result<std::string> prove_scheduler_events(Backend& backend, SchedulerTrace& events);

}  // namespace syscost::ebpf
