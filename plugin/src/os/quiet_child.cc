// SPDX-License-Identifier: MIT
#include "os/quiet_child.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace syscost {

pid_t clone_quietly() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto child = static_cast<pid_t>(syscall(SYS_clone, CLONE_FILES, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) return 0;
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return child;
}

int wait_for_quiet_child(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, __WALL) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace syscost
