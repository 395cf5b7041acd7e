// SPDX-License-Identifier: MIT
//
// Arms the calling thread: gives it a record, an account for its counts, a signal stack and trap stacks, and lets the
// kernel dispatch its calls.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/common/call.h"
#include "backends/dispatch/stub/frames.h"

namespace syscost::signal_safe {

// Memory for counts: one arena, reserved when the backend opens, handed out by adding to a number. Nothing is given
// back: a thread that ends leaves its record and account to the next one, counts included.

/// A record for the calling thread, or null when kThreads are in use. Its lane is the process's.
Thread* take_thread(const Guard& guard);
/// The same for a thread that was made in opening `born` (state.h, Life), and may begin to run only after the next.
Thread* take_thread(const Guard& guard, std::uint32_t born);
/// Before a record is given back: its thread ends in this opening (state.h, Life).
void note_end(const Thread& thread);
/// A child of vfork that runs with its maker's record (`base`, of the gs register) is another process.
bool is_lent(const void* base);
/// In a child that is a process of its own, in our memory or a copy of it, and that is not counted apart.
bool is_in_child();
/// A number by which the kernel finds this process's memory: the calling thread's. The main thread, which has the
/// process's, may have ended.
long number_for_memory();
/// Leaves `thread` to others. The caller must not use it afterwards.
void give_thread_back(const Guard& guard, Thread& thread);

/// Zeroed, and never given back. Null when the arena is used up.
void* take_memory(const Guard& guard, std::uint64_t bytes);
/// The thread's account; the shared one when there is no memory for its own.
Account* account_of(const Guard& guard, Thread& thread);
/// Null when the arena is used up.
Cell* cell_of(const Guard& guard, Account& account, std::uint32_t bank, std::uint32_t slot);
std::uint64_t* errors_of(const Guard& guard, Account& account, std::uint32_t bank);

/// The program locks all of its memory, and the kernel would fill, lock and limit (RLIMIT_MEMLOCK) what is only
/// reserved. From now on the arenas are as small as where RLIMIT_AS allows no more.
void give_unused_memory_back(const Guard& guard);

/// So much is reserved in any case: for the arena of counts, and for that of call stacks.
inline constexpr std::uint64_t kSmallArenaBytes = std::uint64_t{4} << 20;
inline constexpr std::uint64_t kSmallStackArenaBytes = std::uint64_t{8} << 20;

// Signal stacks: the kernel's is ours, the program sees the one it set (frames.h says why).

inline constexpr std::uint32_t kDisabled = 2;           // SS_DISABLE
inline constexpr std::uint32_t kAutodisarm = 1U << 31;  // SS_AUTODISARM
inline constexpr Stack kNoStack = {0, kDisabled, 0, 0};

/// Makes the thread's signal stack ours; the program believes that it still has the one before.
void take_stack(const Guard& guard, Thread& thread);
/// Gives the calling thread, or the child that it has become, the stack that the program believes it has.
void give_stack_back(const Guard& guard, const Thread& thread);

/// The kernel's answer to a program that wants `stack`: 0 or an errno.
int error_of(const Stack& stack);
/// The program has set `stack`, which has no error.
void believe(Thread& thread, const Stack& stack);

/// sigaltstack, answered with the stack that the program believes in.
void prepare_sigaltstack(Call& call);
void finish_sigaltstack(Call& call);

// Trap stacks: memory of ours on which the stub makes a trapped call.
//
// The program's stack may end below the stack pointer, belong to a coroutine of some hundred bytes, or be gone. So
// neither the Call of a trapped call nor the frames of the stub's C code are put there. Each thread has a few trap
// stacks: a handler that interrupts a call, and makes calls, takes another. The call of a patched site takes one while
// it is counted. Handlers of the program never run on one (frames.cc).
//
// A handler that leaves a call by longjmp before that has come back leaves its trap stack in use, because it may have
// kept a context that goes on there. A thread without a free one makes its trapped calls, and counts, on the program's
// stack.

inline constexpr std::uint64_t kTrapStacks = 4;  ///< Each thread's.
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

// Arming: the thread's gs base, by which the stub finds its record, and the kernel's dispatch.

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
