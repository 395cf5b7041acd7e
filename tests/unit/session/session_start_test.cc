// SPDX-License-Identifier: MIT
//
// The things that a session opens when it starts, and those that it refuses.
#include "session/session_fixture.h"

namespace syscost::session {
namespace {

TEST_F(SessionTest, RefusesToStartWhenWhatWasAskedForCannotBeHad) {
  opens_ = false;
  session();
  ASSERT_FALSE(started_.ok());
  EXPECT_EQ(started_.failure().reason, "no backend here");
}

TEST_F(SessionTest, RefusesToStartWithoutItsFile) {
  options_.csv = folder_.file("missing/out.csv");
  session();
  EXPECT_FALSE(started_.ok());
}

TEST_F(SessionTest, StartsWithoutABackendWhenNothingWasAskedFor) {
  options_ = Options();
  opens_ = false;
  session();
  ASSERT_TRUE(started_.ok());
  Cost cost(Unavailable{});
  EXPECT_EQ(session().scopes().open("s", Reach::thread, cost), nullptr);
  ASSERT_FALSE(cost.available());
  EXPECT_EQ(cost.unavailable()->reason, "no backend here");
}

TEST_F(SessionTest, WritesTimesOnlyWithBackendNone) {
  options_.backend = BackendChoice::none;
  options_.is_backend_named = true;
  open("A");
  adapter::Report report = session().windows().close("passed", 0);
  EXPECT_FALSE(report.cost.available());
  EXPECT_EQ(keys(), (Keys{"test|A|||0|test|passed|||"}));
  EXPECT_NE(rows({schema::Column::kWallNs}).front(), "|");
  EXPECT_EQ(rows({schema::Column::kBackend}).front(), "none|");
}

}  // namespace
}  // namespace syscost::session
