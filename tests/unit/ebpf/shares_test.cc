// SPDX-License-Identifier: MIT
#include "backends/ebpf/helper/shares.h"

#include <gtest/gtest.h>

namespace syscost::ebpf {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr uid_t kGreedy = 1000;
constexpr uid_t kOther = 1001;

TEST(Shares, APlaceIsMemoryOfWhichAUserHasASixteenth) {
  EXPECT_EQ(places_of_a_guest(8192 * kMiB, 14 * kMiB), 36U);
  EXPECT_EQ(places_of_a_guest(1024 * 1024 * kMiB, 44 * kMiB), 64U) << "at most a quarter of all";
  EXPECT_EQ(places_of_a_guest(512 * kMiB, 14 * kMiB), 4U) << "but these always";
}

TEST(Shares, PlacesOfAllFillHalfOfAGroupsMemory) {
  EXPECT_EQ(places_within(1024 * kMiB, 16 * kMiB), 32U);
  EXPECT_EQ(places_within(20 * kMiB, 16 * kMiB), 0U);
  EXPECT_EQ(places_within(~std::uint64_t{0}, 16 * kMiB), 256U) << "at most all";
}

class JoinRateTest : public testing::Test {
 protected:
  /// How many `user` gets when it asks for `wanted` at this instant.
  int taken(uid_t user, int wanted) {
    int taken = 0;
    for (int i = 0; i < wanted; ++i) taken += rate_.take(user, now_) ? 1 : 0;
    return taken;
  }
  JoinRate rate_;
  JoinRate::Clock::time_point now_ = JoinRate::Clock::time_point(std::chrono::hours(1));
};

TEST_F(JoinRateTest, GivesSomeAtOnceAndThenOneForEachInterval) {
  EXPECT_EQ(taken(kGreedy, 1000), JoinRate::kAtOnce);
  now_ += JoinRate::kInterval - std::chrono::nanoseconds(1);
  EXPECT_EQ(taken(kGreedy, 1000), 0);
  now_ += std::chrono::nanoseconds(1);
  EXPECT_EQ(taken(kGreedy, 1000), 1);
  now_ += 5 * JoinRate::kInterval;
  EXPECT_EQ(taken(kGreedy, 1000), 5);
}

TEST_F(JoinRateTest, SaysWhenTheNextIsHad) {
  EXPECT_LE(rate_.next(kGreedy), now_);
  EXPECT_EQ(taken(kGreedy, 1000), JoinRate::kAtOnce);
  EXPECT_EQ(rate_.next(kGreedy), now_ + JoinRate::kInterval);
  now_ = rate_.next(kGreedy);
  EXPECT_EQ(taken(kGreedy, 1000), 1);
}

TEST_F(JoinRateTest, KeepsNoUserFromItsOwn) {
  EXPECT_EQ(taken(kGreedy, 1000), JoinRate::kAtOnce);
  EXPECT_EQ(taken(kOther, 1000), JoinRate::kAtOnce);
}

TEST_F(JoinRateTest, SavesNothingUp) {
  EXPECT_EQ(taken(kGreedy, 1), 1);
  now_ += std::chrono::hours(1);
  EXPECT_EQ(taken(kGreedy, 1000), JoinRate::kAtOnce);
}

}  // namespace
}  // namespace syscost::ebpf
