// SPDX-License-Identifier: MIT
//
// A test that puts the monotonic clock back: it enters a time namespace, in which that clock is five seconds behind.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace {

constexpr int kTimeNamespace = 0x80;  // CLONE_NEWTIME

bool put_clock_back() {
  if (unshare(kTimeNamespace) != 0) return false;
  const int offsets = open("/proc/self/timens_offsets", O_WRONLY);
  if (offsets < 0) return false;
  const bool is_written = write(offsets, "monotonic -5 0\n", 15) == 15;
  close(offsets);
  const int space = open("/proc/self/ns/time_for_children", O_RDONLY);
  const bool is_entered = is_written && space >= 0 && setns(space, kTimeNamespace) == 0;
  close(space);
  return is_entered;
}

TEST(Clock, GoesBack) {
  if (!put_clock_back()) GTEST_SKIP() << "no time namespace: " << std::strerror(errno);
}
TEST(Clock, GoesOn) {
  usleep(1000);
}

}  // namespace
