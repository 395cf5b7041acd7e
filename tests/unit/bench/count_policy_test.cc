// SPDX-License-Identifier: MIT
//
// The counts that may vary: tolerances, volatile syscalls, and calls that moved between the tests of a program.
#include "judge/count_policy.h"

#include <gtest/gtest.h>

#include <vector>

#include "judge/verdict.h"
#include "windows.h"

namespace syscost::bench::judge {
namespace {

TEST(CountPolicy, GivesEachSyscallTheLastToleranceThatNamesIt) {
  CountPolicy policy;
  EXPECT_FALSE(policy.add_tolerance("%file=5%").has_value());
  EXPECT_FALSE(policy.add_tolerance("read,ioctl TCGETS=3").has_value());
  EXPECT_EQ(policy.tolerance_of("openat", "file;desc").rel, 0.05);
  EXPECT_EQ(policy.tolerance_of("read", "desc").abs, 3);
  EXPECT_EQ(policy.tolerance_of("ioctl TCGETS", "desc").abs, 3);
  EXPECT_EQ(policy.tolerance_of("ioctl TCSETS", "desc").abs, 0);
  EXPECT_EQ(policy.tolerance_of("write", "desc").abs, 0) << "as without";
}

TEST(CountPolicy, RefusesWhatIsNoTolerance) {
  for (const char* text : {"", "read", "read=", "=3", "read=x", "read=-1", "read=3%%", "read=nan", "%nothing=3"}) {
    EXPECT_TRUE(CountPolicy().add_tolerance(text).has_value()) << text;
  }
  EXPECT_TRUE(CountPolicy().add_volatile("/(/").has_value());
}

TEST(CountPolicy, TakesNamedSyscallsForVolatile) {
  CountPolicy policy;
  EXPECT_FALSE(policy.add_volatile("/^sched_/").has_value());
  EXPECT_TRUE(policy.is_volatile("sched_getparam", ""));
  EXPECT_TRUE(policy.is_volatile("futex", "wait;volatile"));
  EXPECT_FALSE(policy.is_volatile("read", "desc"));
}

TEST(CountPolicy, LetsTheCommandLineDecideOverAFile) {
  CountPolicy file;
  EXPECT_FALSE(file.add_tolerance("read=7").has_value());
  EXPECT_FALSE(file.add_tolerance("write=7").has_value());
  EXPECT_FALSE(file.add_volatile("openat").has_value());
  CountPolicy policy;
  EXPECT_FALSE(policy.add_tolerance("read=3").has_value());
  policy.put_before(file);
  EXPECT_EQ(policy.tolerance_of("read", "").abs, 3);
  EXPECT_EQ(policy.tolerance_of("write", "").abs, 7);
  EXPECT_TRUE(policy.is_volatile("openat", "file"));
}

}  // namespace
}  // namespace syscost::bench::judge
