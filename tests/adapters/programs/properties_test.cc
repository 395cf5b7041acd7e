// SPDX-License-Identifier: MIT
//
// Tests that record properties of their own. GoogleTest's XML has them beside the calls.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

TEST(Properties, FiveCalls) {
  for (int i = 0; i < 5; ++i) syscall(SYS_getppid);
}

TEST(Properties, OneOfItsOwn) {
  syscall(SYS_getppid);
  RecordProperty("syscost_lost", "mine");
}

}  // namespace
