// SPDX-License-Identifier: MIT
#include "os/errors.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace syscost {
namespace {

TEST(ErrnoNames, NamesWhatProgramsSee) {
  EXPECT_EQ(errno_name(ENOENT), "ENOENT");
  EXPECT_EQ(errno_name(EWOULDBLOCK), "EAGAIN");
  EXPECT_EQ(errno_name(EOPNOTSUPP), "EOPNOTSUPP");
  EXPECT_EQ(errno_name(EHWPOISON), "EHWPOISON");
}

TEST(ErrnoNames, NamesWhatTheKernelKeepsToItself) {
  EXPECT_EQ(errno_name(512), "ERESTARTSYS");
  EXPECT_EQ(errno_name(524), "ENOTSUPP");
}

TEST(ErrnoNames, PrintsOthersByNumber) {
  EXPECT_EQ(errno_name(4095), "errno_4095");
  EXPECT_EQ(errno_name(0), "errno_0");
  EXPECT_EQ(errno_name(520), "errno_520");
}

TEST(ErrnoNames, ReadsBackEveryName) {
  for (int number = 0; number <= 4095; ++number) EXPECT_EQ(errno_number(errno_name(number)), number);
  EXPECT_EQ(errno_number("EWOULDBLOCK"), EAGAIN);
  EXPECT_EQ(errno_number("ENOTSUP"), EOPNOTSUPP);
  EXPECT_EQ(errno_number("EDEADLOCK"), EDEADLK);
}

TEST(ErrnoNames, RefusesWhatNamesNoErrno) {
  for (const char* name : {"", "ENOSUCHTHING", "enoent", "errno_", "errno_x", "errno_1x", "2"}) {
    EXPECT_EQ(errno_number(name), std::nullopt) << name;
  }
}

#ifdef __GLIBC__
TEST(ErrnoNames, AgreesWithTheCLibrary) {
  for (int number = 1; number < 512; ++number) {
    if (const char* name = strerrorname_np(number)) {
      // glibc prefers ENOTSUP, the kernel and strace say EOPNOTSUPP.
      EXPECT_EQ(errno_name(number), number == EOPNOTSUPP ? "EOPNOTSUPP" : name);
    } else {
      EXPECT_EQ(errno_name(number), "errno_" + std::to_string(number));
    }
  }
}
#endif

}  // namespace
}  // namespace syscost
