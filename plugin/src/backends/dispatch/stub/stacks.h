// SPDX-License-Identifier: MIT
//
// Signal stacks: the kernel's is ours, the program sees the one it set (frames.h says why).
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/call.h"

namespace syscost::signal_safe {

inline constexpr std::uint32_t kDisabled = 2;           // SS_DISABLE
inline constexpr std::uint32_t kAutodisarm = 1U << 31;  // SS_AUTODISARM
inline constexpr Stack kNoStack = {0, kDisabled, 0, 0};

/// Makes the thread's signal stack ours; what it had is what the program believes it has.
void take_stack(const Guard& guard, Thread& thread);
/// Gives the calling thread, or the child that it has become, the stack that the program believes it has.
void give_stack_back(const Guard& guard, const Thread& thread);

/// What the kernel says to a program that wants `stack`: 0 or an errno.
int error_of(const Stack& stack);
/// The program has set `stack`, which has no error.
void believe(Thread& thread, const Stack& stack);

/// sigaltstack, answered with the stack that the program believes in.
void prepare_sigaltstack(Call& call);
void finish_sigaltstack(Call& call);

}  // namespace syscost::signal_safe
