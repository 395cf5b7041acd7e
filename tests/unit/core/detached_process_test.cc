// SPDX-License-Identifier: MIT
#include "os/detached_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "os/own_calls.h"

namespace syscost {
namespace {

/// The session that a backend reads to recognise our tools.
class Sessions : public ::testing::Test {
 protected:
  Sessions() { set_own_calls_marks(0, cells_); }
  ~Sessions() override { set_own_calls_marks(0, {}); }

  std::array<std::atomic<pid_t>, 2> cells_{};
};

TEST_F(Sessions, AreKnownUntilTheyAreEnded) {
  const Result<DetachedProcess> one = start_detached({{"/bin/sleep", "60"}, {}, {}, 0});
  const Result<DetachedProcess> two = start_detached({{"/bin/sleep", "60"}, {}, {}, 0});
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(cells_[0], one.value().session);
  EXPECT_EQ(cells_[1], two.value().session);
  EXPECT_EQ(getsid(one.value().process), one.value().session);
  EXPECT_NE(one.value().session, two.value().session);
  EXPECT_NE(one.value().session, getsid(0));
  const Result<DetachedProcess> three = start_detached({{"/bin/sleep", "60"}, {}, {}, 0});
  EXPECT_FALSE(three.ok());  // no cell is left to note it in
  end_own_session(one.value().session);
  EXPECT_EQ(cells_[0], 0);
  EXPECT_EQ(cells_[1], two.value().session);
  kill(one.value().process, SIGKILL);
  kill(two.value().process, SIGKILL);
}

TEST_F(Sessions, OfWhatCannotBeStartedAreEndedAtOnce) {
  EXPECT_FALSE(start_detached({{"/nonexistent"}, {}, {}, 0}).ok());
  EXPECT_FALSE(start_detached({{"/bin/sleep", "60"}, {}, {-1}, 0}).ok());
  EXPECT_EQ(cells_[0], 0);
}

}  // namespace
}  // namespace syscost
