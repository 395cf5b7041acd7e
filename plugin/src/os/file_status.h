// SPDX-License-Identifier: MIT
//
// fstat(2) under a seccomp filter of a test.
//
// The kernel has two calls for it, fstat and newfstatat, and a C library uses one of them: glibc 2.39 and later the
// first, older ones the second. A filter may deny one of them by number. A test that forbids what its own code does not
// do must not lose its rows.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace syscost {

/// Like fstat(), by the call that the filter allows.
inline int status_of(int fd, struct stat* status) {
  if (fstat(fd, status) == 0) return 0;
  if (errno == EBADF) return -1;
  const int error = errno;
  if (syscall(SYS_newfstatat, fd, "", status, AT_EMPTY_PATH) == 0) return 0;
#ifdef SYS_fstat
  if (syscall(SYS_fstat, fd, status) == 0) return 0;
#endif
  errno = error;
  return -1;
}

}  // namespace syscost
