// SPDX-License-Identifier: MIT
//
// A child that the program does not notice: in it syscost tests, before it measures, whether a backend works.
#pragma once

#include <sys/types.h>

namespace syscost {

/// Starts a child that no wait() returns, because it sends no signal at its end. It shares our descriptors, and blocks
/// every signal. It must neither allocate nor lock. Returns 0 in the child; -1, with errno, if it cannot be started.
pid_t clone_quietly();
/// Waits for such a child's end; its status as waitpid() has it.
int wait_for_quiet_child(pid_t child);

}  // namespace syscost
