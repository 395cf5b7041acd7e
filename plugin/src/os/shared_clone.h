// SPDX-License-Identifier: MIT
//
// A child that runs in this process's memory until it executes or ends, as vfork(2)'s, on a stack of its own.
//
// The C library's clone(2) is a function that sanitizers stand before: clang's ThreadSanitizer treats each call of it
// as a fork in a process of its own memory, and ends the program when such a child makes a second one.
#pragma once

#include <sys/types.h>

namespace syscost {

/// Returns when the child executed a program or ended: its pid, or -1 with errno. `exit_signal` 0 = none. If `child` is
/// not null, the kernel writes the pid there before the child runs. `run(argument)` must not return, and must do
/// nothing but make syscalls, by syscall(2). `stack_top` is 16-byte aligned. The caller blocks signals, if needed.
pid_t clone_sharing_memory(int exit_signal, void* stack_top, pid_t* child, void (*run)(void*), void* argument);

}  // namespace syscost
