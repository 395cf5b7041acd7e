// SPDX-License-Identifier: MIT
//
// The stack of a call, by its number, and the counts of each (syscall, stack).
//
// A thread keeps its last unwindings with the words that they read. A call from the same place, with the same words at
// the same addresses, has the same stack: comparing costs a tenth of unwinding. Otherwise the stack is unwound, and
// looked up among those that have a number.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/call.h"
#include "backends/dispatch/stub/where.h"

namespace syscost::signal_safe {

/// The call's stack, kept by its thread; null where there is no memory, or the stack has no number. Only in a recording
/// that interrupts no other one of this thread.
KeptUnwinding* stack_of(const Guard& guard, const Call& call, std::uint32_t slot);

/// Where calls of `kept` count in the segment of `control`; null if there is no memory for one more.
Place* counting_place(const Guard& guard, Account& account, Control control, KeptUnwinding& kept);
/// The count of an error at `place`; null if there is no memory for one more.
std::uint64_t* error_of(Place& place, std::uint32_t error);

/// After a call that succeeded: memory, and the code in it, may be gone.
void note_unmapping(const Call& call);

/// The thread of `own` begins on a stack below `top`.
void note_stack(const Thread& own, std::uint64_t top);

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): the stub's name
extern "C" {
/// Calls function(argument) with the stack pointer `top`, and stores what it was before.
void syscost_call_on_stack(void (*function)(void*), void* argument, void* top, std::uint64_t* before);
}
// NOLINTEND(readability-identifier-naming)
