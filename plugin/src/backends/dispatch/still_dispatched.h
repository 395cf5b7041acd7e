// SPDX-License-Identifier: MIT
//
// Checks that calls are still dispatched. A program may use for itself what the dispatch backend needs, or switch
// dispatching off.
#pragma once

#include "os/result.h"

namespace syscost::dispatch {

/// Makes one call that is dispatched if the calling thread is armed: it is outside the stub, and no patch knows this
/// place. Returns what the kernel returned: -errno on failure.
inline long make_dispatched_call(long number) {
  long result = number;
  asm volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
  return result;
}

/// Fails if the stub has stood aside, that is, if it has stopped counting in favour of the program. Memory accesses
/// only.
Result<void> check_not_aside();

/// Also makes one call of our own, and fails if the calling thread is armed and the call is not dispatched. Between
/// windows only.
Result<void> check_still_dispatched();

}  // namespace syscost::dispatch
