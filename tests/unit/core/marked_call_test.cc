// SPDX-License-Identifier: MIT
#include "os/own_calls.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace syscost {
namespace {

constexpr std::uint64_t kMark = 0x1234'5678'9abc'def0;

TEST(MarkedCall, LeavesNoMarkInTheRegister) {
  const long result = marked_call(kMark, SYS_close, -1);
  std::uint64_t left = 0;
  __asm__ volatile("movq %%r9, %0" : "=r"(left));
  EXPECT_EQ(result, -1);
  EXPECT_NE(left, kMark);
}

TEST(MarkedCall, HasResultAndErrnoOfTheCall) {
  EXPECT_EQ(marked_call(kMark, SYS_getpid), getpid());
  errno = 0;
  EXPECT_EQ(marked_call(kMark, SYS_close, -1), -1);
  EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace syscost
