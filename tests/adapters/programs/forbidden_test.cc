// SPDX-License-Identifier: MIT
//
// Tests that are expected to fail: by forbidden calls (`Forbidden`), and by faults that no one can make (`Refused`).
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "faults_case.h"

namespace adapter_tests {
namespace {

class Forbidden : public Faults {};

TEST_F(Forbidden, ByAScope) {
  syscost::Forbid forbid("lseek");
  lseek(null_, 5, SEEK_SET);
  lseek(null_, 6, SEEK_SET);
}

TEST_F(Forbidden, ByAnAssertion) {
  EXPECT_NO_SYSCALLS("%file,lseek", lseek(null_, 7, SEEK_CUR));
}

TEST_F(Forbidden, InALoop) {
  syscost::Forbid forbid("openat");
  for (int i = 0; i < 3; ++i) opens("/dev/null");
}

TEST_F(Forbidden, InAnotherThread) {
  syscost::Forbid forbid("lseek", syscost::Reach::process);
  std::thread([&] { lseek(null_, 8, SEEK_CUR); }).join();
}

class Refused : public Faults {};

TEST_F(Refused, Exit) {
  syscost::Fault fault("exit_group", EIO);
}
TEST_F(Refused, UnknownName) {
  syscost::Fault fault("wriet", EIO);
}
TEST_F(Refused, Errno) {
  syscost::Fault fault("write", 0);
}
TEST_F(Refused, ErrnoWithSign) {
  syscost::Fault fault("write", -ENOSPC);
}
TEST_F(Refused, ResultThatIsNoErrno) {
  syscost::Fault fault("write", syscost::Effect{.result = -5000});
}
TEST_F(Refused, ShortenNothing) {
  syscost::Fault fault("sendmsg,getppid", syscost::shorten(1));
}
TEST_F(Refused, AfterNoBytes) {
  syscost::Fault fault("getppid,fsync", EIO, syscost::after(10));
}
TEST_F(Refused, Zeroth) {
  syscost::Fault fault("write", EIO, syscost::nth(0));
}
TEST_F(Refused, ShortToNothing) {
  syscost::Effect effect;
  effect.most_bytes = 0;
  syscost::Fault fault("write", effect);
}
TEST_F(Refused, NegativeDelay) {
  syscost::Effect effect;
  effect.delay_enter = std::chrono::nanoseconds(-1);
  syscost::Fault fault("write", effect);
}
TEST_F(Refused, NoFile) {
  syscost::Fault fault("getppid", EIO, syscost::each().on_descriptor(3));
}
TEST_F(Refused, Root) {
  syscost::Fault fault("write", EIO, syscost::each().below("/"));
}

}  // namespace
}  // namespace adapter_tests
