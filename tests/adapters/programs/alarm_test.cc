// SPDX-License-Identifier: MIT
//
// A test that leaves an alarm, which is the next test's to cancel. In between the program has work of microseconds.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

constexpr suseconds_t kAlarmUs = 300'000;

TEST(Alarm, IsLeft) {
  // Writing so many calls takes longer than the alarm.
  for (int i = 0; i < 1'000'000; ++i) syscall(SYS_getppid);
  const itimerval alarm{{0, 0}, {0, kAlarmUs}};
  ASSERT_EQ(setitimer(ITIMER_REAL, &alarm, nullptr), 0);
}

TEST(Alarm, HasTheTimeThatWasLeft) {
  const itimerval none{};
  itimerval left{};
  ASSERT_EQ(setitimer(ITIMER_REAL, &none, &left), 0);
  EXPECT_EQ(left.it_value.tv_sec, 0);
  EXPECT_GT(left.it_value.tv_usec, 0);
  EXPECT_LE(left.it_value.tv_usec, kAlarmUs);
}

}  // namespace
