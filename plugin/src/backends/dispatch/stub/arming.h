// SPDX-License-Identifier: MIT
//
// Arming the calling thread: its record, its gs base, and the kernel's dispatch.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/call.h"

namespace syscost::signal_safe {

inline constexpr std::uint64_t kSetDispatch = 59;  ///< PR_SET_SYSCALL_USER_DISPATCH, missing in older headers.

/// From now on the calling thread's syscalls are dispatched to the stub, counted as `thread`'s. Returns 0 or -errno.
long arm_calling_thread(const Guard& guard, Thread& thread);
/// No more; the record stays the thread's. `is_last`: no other thread is armed.
void disarm_calling_thread(const Guard& guard, bool is_last);
/// The record of the calling thread, or null when it is not armed.
Thread* calling_thread(const Guard& guard);
/// True for a child in its first steps: it still has its maker's gs base, and none of its maker's signal stack.
bool is_being_born(const Guard& guard);
/// Stops watching all threads, for `reason`.
void stand_aside(const Guard& guard, StoodAside reason);

}  // namespace syscost::signal_safe
