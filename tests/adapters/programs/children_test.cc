// SPDX-License-Identifier: MIT
//
// The children of these tests make a known number of calls to getppid; the tests themselves make fewer. The driver
// (children_test.py) runs this program and checks its rows.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "syscost/gtest.h"

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

void wait_for(pid_t child) {
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
}

template <class Body>
void fork_and_wait(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  wait_for(child);
}

/// The program beside this one; known before a test begins.
const std::string& child_program() {
  static const std::string path = [] {
    std::string own(4096, '\0');
    const ssize_t length = readlink("/proc/self/exe", own.data(), own.size());
    own.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return own.substr(0, own.rfind('/') + 1) + "adapter_child";
  }();
  return path;
}
const std::string& g_known_before = child_program();

TEST(Children, None) {
  call(1);
}

TEST(Children, Forked) {
  call(3);
  fork_and_wait([] { call(5); });
}

TEST(Children, Grandchildren) {
  fork_and_wait([] { fork_and_wait([] { call(6); }); });
}

TEST(Children, ForkedAndExecuted) {
  call(2);
  for (int i = 0; i < 2; ++i) {
    fork_and_wait([] {
      call(1);
      execl(child_program().c_str(), "adapter_child", "7", nullptr);
      _exit(1);
    });
  }
}

TEST(Children, Spawned) {
  std::string name = "adapter_child", times = "4";
  char* arguments[] = {name.data(), times.data(), nullptr};
  pid_t child = 0;
  ASSERT_EQ(posix_spawn(&child, child_program().c_str(), nullptr, nullptr, arguments, environ), 0);
  wait_for(child);
}

// The value is the count of the calling process. Children do not change it.
TEST(Children, AskedForOnlyTheirParentAnswers) {
  const syscost::Cost cost = syscost::measure(
      [] {
        call(2);
        fork_and_wait([] { call(9); });
      },
      syscost::Reach::process);
  EXPECT_EQ(cost.entries("getppid"), 2);
}

}  // namespace
