// SPDX-License-Identifier: MIT
//
// A child that runs in this process's memory until it executes or ends, as vfork(2)'s, on a stack of its own.
//
// The C library's clone(2) is a function that sanitizers stand before: clang's ThreadSanitizer treats each call of it
// as a fork in a process of its own memory, and ends the program when such a child makes a second one.
#pragma once

#include <sys/types.h>

namespace syscost {

/// Returns when the child executed or ended: its pid, or -1 with errno. `exit_signal` 0 = none. The kernel writes the
/// pid to `child` before the child runs, where that is not null. `run(argument)` must not return and must make nothing
/// but syscalls, by syscall(2). `stack_top` is 16-byte aligned. Signals are the caller's to block.
pid_t clone_sharing_memory(int exit_signal, void* stack_top, pid_t* child, void (*run)(void*), void* argument);

}  // namespace syscost
