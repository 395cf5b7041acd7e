// SPDX-License-Identifier: MIT
#include "os/high_fd.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace syscost {

int move_fd_high(int fd) {
  rlimit limit{};
  rlim_t top = 1024;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) top = std::min(top, limit.rlim_cur);
  constexpr rlim_t kOurs = 32;
  if (top <= 2 * kOurs) return fd;
  int high = fcntl(fd, F_DUPFD_CLOEXEC, static_cast<int>(top - kOurs));
  if (high < 0) return fd;
  close(fd);
  return high;
}

}  // namespace syscost
