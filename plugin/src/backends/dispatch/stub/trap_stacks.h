// SPDX-License-Identifier: MIT
//
// Trap stacks: memory of ours on which the stub makes a trapped call.
//
// The program's stack may end below the stack pointer, belong to a coroutine of some hundred bytes, or be gone. So what
// the stub keeps of a trapped call, and its C code, are not put there. Each thread has a few trap stacks: a handler
// that interrupts a call, and makes calls, takes another. The call of a patched site takes one while it is counted.
// Handlers of the program never run on one (frames.cc).
//
// A handler that leaves a call by longjmp before that has come back leaves its trap stack in use, because it may have
// kept a context that goes on there. A thread without a free one makes its trapped calls, and counts, on the program's
// stack.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/call.h"
#include "backends/dispatch/stub/frames.h"

namespace syscost::signal_safe {

inline constexpr std::uint64_t kTrapStacks = 4;  ///< Of each thread.
inline constexpr std::uint64_t kTrapStackBytes = 2048;

/// Lets the call that the thread was about to make when the signal of `frame` came go on in the stub, on a trap stack.
/// False when none is free.
bool enter_on_trap_stack(const Guard& guard, SignalFrame& frame, Thread& thread, std::uint64_t return_address);

/// None is in use.
void free_trap_stacks(Thread& thread);

/// Which are in use, as bits; and the others are free from now on.
std::uint64_t trap_stacks_in_use(const Thread& thread);
void keep_trap_stacks(Thread& thread, std::uint64_t in_use);

/// True while a call of any thread, `but` one, is under way on a trap stack. A handler that the kernel enters there
/// itself has our signal stack for its stack: some kilobytes.
bool holds_trapped_calls(const Guard& guard, const Thread* but);

/// The Call at the top of the trap stack that `stack_pointer` lies on; null where it lies on none.
Call* call_above(std::uint64_t stack_pointer);

/// The stack pointer of the program's code that the signal of `frame` interrupted, be it in the stub on a trap stack.
std::uint64_t users_stack_pointer(const SignalFrame& frame);

}  // namespace syscost::signal_safe
