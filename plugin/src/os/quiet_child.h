// SPDX-License-Identifier: MIT
//
// A child that the program does not notice: for proving, before anything is measured, that a backend works.
#pragma once

#include <sys/types.h>

namespace syscost {

/// Starts a child that no wait() sees, because it sends no signal at its end; shares descriptors with it. The child
/// must neither allocate nor lock. Every signal is blocked in it. 0 in the child, -1 with errno when there can be none.
pid_t clone_quietly();
/// Waits for such a child's end; its status as waitpid() has it.
int wait_for_quiet_child(pid_t child);

}  // namespace syscost
