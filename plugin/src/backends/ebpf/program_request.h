// SPDX-License-Identifier: MIT
//
// ProgramRequest: what the BPF programs of a process look for, besides its calls.
#pragma once

#include <cstdint>

#include "core/syscall_id.h"

namespace syscost::ebpf {

/// Events of the scheduler in one window: 1 GiB.
inline constexpr std::uint32_t kMostSchedulerEvents = (1U << 24) - 1;

struct ProgramRequest {
  DetailRequest details = {};          ///< How to separate calls of one syscall.
  bool children = false;               ///< Count the processes below too.
  std::uint32_t scheduler_events = 0;  ///< Room for so many events of the scheduler in a window; 0 = none.

  /// True if the programs cannot be shared: what they look for, and find, is this process's business.
  bool needs_own_programs() const { return details.any() || children || scheduler_events > 0; }
};

}  // namespace syscost::ebpf
