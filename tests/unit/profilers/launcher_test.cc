// SPDX-License-Identifier: MIT
//
// The launcher with tools that are not bpftrace: no privilege needed.
#include <gtest/gtest.h>

#include <chrono>

#include "extras/profilers/find_tools.h"
#include "extras/profilers/launcher/launcher.h"
#include "extras/profilers/launcher/launcher_link.h"
#include "extras/profilers/launcher/protocol.h"

namespace syscost::profilers {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Patience, IsRenewedByWorkAndOverWithoutIt) {
  const Patience::Clock::time_point begin{};
  Patience patience(seconds(30), 19, begin, milliseconds(5));
  EXPECT_EQ(patience.until(), begin + seconds(30));
  EXPECT_TRUE(patience.is_renewed(begin + seconds(31), milliseconds(6)));
  EXPECT_EQ(patience.until(), begin + seconds(61));
  EXPECT_FALSE(patience.is_renewed(begin + seconds(61), milliseconds(6)));
}

TEST(Patience, IsRenewedWhenAToolOfSeveralHasEnded) {
  Patience patience(seconds(30), 19, {}, seconds(2));
  EXPECT_TRUE(patience.is_renewed(Patience::Clock::time_point(seconds(30)), seconds(1)));
}

TEST(Patience, OfOneThatRunsInCirclesEnds) {
  Patience patience(seconds(30), 19, {}, {});
  int limits = 1;
  while (patience.is_renewed(patience.until(), seconds(limits))) ++limits;
  EXPECT_EQ(limits, 20);
  Patience strict(seconds(2), 0, {}, {});
  EXPECT_FALSE(strict.is_renewed(strict.until(), seconds(1)));
}

class Launcher : public testing::Test {
 protected:
  void SetUp() override {
    const Result<std::string> launcher = find_launcher();
    ASSERT_TRUE(launcher.ok()) << launcher.failure().reason;
    launcher_ = launcher.value();
  }

  /// The result of shell code that runs with the gate as $0.
  CommandResult start(const std::string& code, bool is_ready, LauncherLimits limits = {}) const {
    LauncherLink link(launcher_, {"PATH=/usr/bin:/bin"}, limits);
    const Result<bool> ready = link.start({{kGateKind, {"/bin/sh", "-c", code, std::string(kGatePlaceholder)}}});
    EXPECT_TRUE(ready.ok()) << ready.failure().reason;
    if (!ready.ok()) return {};
    EXPECT_EQ(ready.value(), is_ready);
    if (ready.value()) {
      EXPECT_TRUE(link.stop().ok());
    }
    return link.results().front();
  }

  std::string launcher_;
};

TEST_F(Launcher, WaitsUntilTheGateIsStartedAndEndsTheToolByIt) {
  const CommandResult result = start("echo before; $0; echo after", true);
  EXPECT_EQ(result.output, "before\nafter\n");
  EXPECT_TRUE(result.was_ready);
  EXPECT_FALSE(result.ended_early || result.has_timed_out);
  EXPECT_EQ(result.wait_status, 0);
}

TEST_F(Launcher, EndsAToolThatHangsBeforeItIsReady) {
  // Reads input that never comes.
  const CommandResult result = start("echo here; read -r line", false, {milliseconds(50), milliseconds(50)});
  EXPECT_TRUE(result.has_timed_out);
  EXPECT_FALSE(result.was_ready);
}

TEST_F(Launcher, EndsAToolThatHangsAfterItsGate) {
  const CommandResult result = start("$0; exec sleep 1000", true, {seconds(30), milliseconds(50)});
  EXPECT_TRUE(result.has_timed_out);
  EXPECT_TRUE(result.was_ready);
}

TEST_F(Launcher, SaysThatAToolEndedBeforeItWasReady) {
  const CommandResult result = start("echo broken >&2; exit 3", false);
  EXPECT_EQ(result.errors, "broken\n");
  EXPECT_TRUE(result.ended_early);
  EXPECT_FALSE(result.has_timed_out);
}

}  // namespace
}  // namespace syscost::profilers
