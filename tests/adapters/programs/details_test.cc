// SPDX-License-Identifier: MIT
//
// Tests with known ioctls, and a thread that is called as a driver's.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/random.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "syscost/syscost.h"

namespace {

class Ioctl : public testing::Test {
 protected:
  int null_ = open("/dev/null", O_RDWR | O_CLOEXEC);
  int random_ = open("/dev/random", O_RDONLY | O_CLOEXEC);
  ~Ioctl() override {
    close(null_);
    close(random_);
  }
};

TEST_F(Ioctl, ThreeKinds) {
  int value = 0;
  syscost::Scope scope("three");
  for (int i = 0; i < 3; ++i) ioctl(null_, TIOCGWINSZ, &value);
  ioctl(null_, 0x1234, &value);
  ioctl(random_, RNDGETENTCNT, &value);
  const syscost::Cost cost = scope.stop();
  // The result of an assertion does not depend on --syscost_detail.
  EXPECT_EQ(cost.calls("ioctl"), 5) << cost;
  EXPECT_EQ(cost.errors("ioctl", ENOTTY), 4) << cost;
  if (cost.available()) {
    EXPECT_EQ(cost.syscalls().size(), 1U) << cost;
  }
}

TEST_F(Ioctl, OneMoreWhenAsked) {
  int value = 0;
  const int count = std::getenv("ONE_MORE") != nullptr ? 3 : 2;
  for (int i = 0; i < count; ++i) ioctl(random_, RNDGETENTCNT, &value);
}

TEST(Moves, ToAPipeAndAFile) {
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  char data[100] = {};
  syscost::Scope scope("moves");
  for (int i = 0; i < 3; ++i) static_cast<void>(write(ends[1], data, 20));
  static_cast<void>(write(null, data, 7));
  static_cast<void>(read(ends[0], data, 50));
  const syscost::Cost cost = scope.stop();
  for (int fd : {ends[0], ends[1], null}) close(fd);
  // The result of an assertion does not depend on --syscost_detail.
  EXPECT_EQ(cost.calls("write"), 4) << cost;
  EXPECT_EQ(cost.calls("read,write"), 5) << cost;
  if (cost.available()) {
    EXPECT_EQ(cost.syscalls().size(), 2U) << cost;
    EXPECT_EQ(cost.to_string().substr(0, 15), "4 write, 1 read");
  }
}

TEST_F(Ioctl, InADriversThread) {
  std::thread([&] {
    prctl(PR_SET_NAME, "cuda-EvtHandlr");
    for (int i = 0; i < 7; ++i) getppid();
    ioctl(null_, 0x1234, 0);
  }).join();
  getppid();
}

}  // namespace
