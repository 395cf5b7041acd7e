// SPDX-License-Identifier: MIT
//
// Tests whose properties and calls stand side by side in GoogleTest's XML.
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
