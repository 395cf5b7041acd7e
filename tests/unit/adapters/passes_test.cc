// SPDX-License-Identifier: MIT
//
// When the passes of a benchmark are slow. On a busy machine any pass may wait for a processor for a while.
#include "adapters/benchmark/passes.h"

#include <gtest/gtest.h>

namespace syscost::benchmark_adapter {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(SlowPass, IsOneAfterAnotherThatWasAsSlow) {
  EXPECT_TRUE(is_slow_pass(100, milliseconds(50), microseconds(500)));
  EXPECT_TRUE(is_slow_pass(10, milliseconds(500), milliseconds(50)));
  EXPECT_TRUE(is_slow_pass(1000, seconds(1), milliseconds(1)));
}

TEST(SlowPass, IsNoneThatWaitedOnce) {
  EXPECT_FALSE(is_slow_pass(100, milliseconds(499), microseconds(2)));
  EXPECT_FALSE(is_slow_pass(10, seconds(4), microseconds(2)));
}

TEST(SlowPass, IsOneThatTookTooLongToHaveWaited) {
  EXPECT_TRUE(is_slow_pass(100, milliseconds(500), microseconds(2)));
  EXPECT_TRUE(is_slow_pass(10, seconds(5), microseconds(2)));
}

TEST(SlowPass, IsNoneAfterOneThatWaited) {
  EXPECT_FALSE(is_slow_pass(100, milliseconds(1), milliseconds(100)));
}

TEST(SlowPass, MayBeTheFirst) {
  EXPECT_TRUE(is_slow_pass(1, milliseconds(500), kNoPassBefore));
  EXPECT_FALSE(is_slow_pass(1, milliseconds(499), kNoPassBefore));
}

}  // namespace
}  // namespace syscost::benchmark_adapter
