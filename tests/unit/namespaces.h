// SPDX-License-Identifier: MIT
#pragma once

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace syscost {

/// True if this process may make namespaces: `flags` of unshare(2). Root in a container may not.
inline bool can_unshare(int flags) {
  const pid_t child = fork();
  if (child == 0) _exit(unshare(flags) == 0 ? 0 : 1);
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace syscost
