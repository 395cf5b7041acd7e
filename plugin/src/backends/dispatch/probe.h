// SPDX-License-Identifier: MIT
//
// Whether dispatching works. A failure would kill the process that tries it, so a child tries it before this process
// does. Later checks find out if calls are still dispatched: the program may use for itself what the backend needs, or
// switch dispatching off.
#pragma once

#include "os/errors.h"

namespace syscost::dispatch {

/// Checks the machine and the calling thread; fails if a requirement is missing. It tries nothing.
Result<void> check_requirements();

/// A forked child arms itself and makes 64 known calls, of which the stub must count exactly 64. The child sends no
/// SIGCHLD and is reaped here.
Result<void> try_in_child();

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
