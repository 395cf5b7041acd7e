// SPDX-License-Identifier: MIT
#include "core/window_book.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fake_backend.h"

namespace syscost {
namespace {

using testing::FakeBackend;
constexpr SyscallId kReadId = FakeBackend::kRead;

class WindowBookTest : public ::testing::Test {
 protected:
  WindowBook::Window* open(Reach reach = Reach::process) {
    WindowBook::Window* window = book_.open(reach);
    EXPECT_NE(window, nullptr);
    return window;
  }
  /// Closes and returns read's tally.
  Tally close(WindowBook::Window* window) {
    detail::CostData cost(std::pmr::get_default_resource());
    book_.close(window, cost);
    lost_ = cost.lost;
    late_ = cost.late;
    Tally tally(std::pmr::get_default_resource());
    tally.merge(cost.table.at(FakeBackend::kRead));
    return tally;
  }

  FakeBackend kernel_;
  WindowBook book_{kernel_, *std::pmr::get_default_resource()};
  std::uint64_t lost_ = 0;
  std::uint64_t late_ = 0;
};

TEST_F(WindowBookTest, CountsWhatHappensBetweenOpenAndClose) {
  kernel_.call();
  WindowBook::Window* window = open();
  kernel_.call();
  kernel_.call();
  Tally read = close(window);
  kernel_.call();
  EXPECT_EQ(read.entries, 2U);
  EXPECT_EQ(read.calls, 2U);
  EXPECT_FALSE(kernel_.armed(Lane::kProcess));
}

TEST_F(WindowBookTest, StartsEachWindowAtZero) {
  close(open());
  WindowBook::Window* first = open();
  kernel_.call();
  close(first);
  WindowBook::Window* second = open();
  EXPECT_EQ(close(second).entries, 0U);
}

TEST_F(WindowBookTest, ReplacesAWindowWithoutAGapOrAnOverlap) {
  WindowBook::Window* whole = open();
  WindowBook::Window* piece = open();
  std::vector<std::uint64_t> pieces;
  for (int calls = 1; calls <= 3; ++calls) {
    for (int i = 0; i < calls; ++i) kernel_.call();
    detail::CostData cost(std::pmr::get_default_resource());
    piece = book_.replace(piece, cost);
    pieces.push_back(cost.table.at(kReadId).entries);
  }
  const Tally last = close(piece);
  EXPECT_EQ(pieces, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(last.entries, 0U);
  EXPECT_EQ(close(whole).entries, 6U);
}

TEST_F(WindowBookTest, HasACallInTheOneInWhichItEndsOfWindowsThatReplaceEachOther) {
  const FakeBackend::Inside from_before = kernel_.enter();
  WindowBook::Window* whole = open();
  WindowBook::Window* piece = open();
  kernel_.call();
  const FakeBackend::Inside crossing = kernel_.enter();
  const FakeBackend::Inside unending = kernel_.enter();
  std::vector<Tally> pieces;
  const auto replace = [&] {
    detail::CostData cost(std::pmr::get_default_resource());
    piece = book_.replace(piece, cost);
    pieces.emplace_back(std::pmr::get_default_resource()).merge(cost.table.at(kReadId));
  };
  replace();
  replace();
  kernel_.leave(crossing);
  kernel_.leave(from_before);
  kernel_.call();
  replace();
  pieces.push_back(close(piece));
  const Tally all = close(whole);
  kernel_.leave(unending);
  std::vector<std::uint64_t> entries;
  std::vector<std::uint64_t> calls;
  std::vector<std::uint64_t> carried_in;
  for (const Tally& one : pieces) {
    entries.push_back(one.entries);
    calls.push_back(one.calls);
    carried_in.push_back(one.carried_in);
  }
  EXPECT_EQ(pieces[2].latency.count(), 1U) << "a call has all its time where it ends";
  EXPECT_EQ(calls, (std::vector<std::uint64_t>{1, 0, 2, 0}));
  EXPECT_EQ(entries, (std::vector<std::uint64_t>{1, 0, 2, 1})) << "the newest has what is in flight";
  EXPECT_EQ(carried_in, (std::vector<std::uint64_t>{0, 0, 1, 0})) << "it entered before all of them";
  EXPECT_EQ(all.entries, 4U);
  EXPECT_EQ(all.calls, 3U);
}

TEST_F(WindowBookTest, KeepsWhatChildrenDoApartByProgramInEveryProcessWindow) {
  const auto children_of = [&](WindowBook::Window* window) {
    detail::CostData cost(std::pmr::get_default_resource());
    book_.close(window, cost);
    std::map<std::string, std::uint64_t> entries;
    for (const auto& [program, table] : cost.programs) entries[std::string(program)] = table.find(kReadId)->entries;
    EXPECT_EQ(cost.table.at(kReadId).entries, 1U);
    return entries;
  };
  kernel_.call_in_child("before");
  WindowBook::Window* outer = open();
  kernel_.call();
  kernel_.call_in_child("cc");
  kernel_.call_in_child("ld");
  book_.suspend(outer);
  kernel_.call_in_child("between");
  WindowBook::Window* other = open();
  kernel_.call();
  kernel_.call_in_child("cc");
  EXPECT_EQ(children_of(other), (std::map<std::string, std::uint64_t>{{"cc", 1}}));
  book_.resume(outer);
  kernel_.call_in_child("cc");
  EXPECT_EQ(children_of(outer), (std::map<std::string, std::uint64_t>{{"cc", 2}, {"ld", 1}}));
  EXPECT_TRUE(close(open()).empty());
}

TEST_F(WindowBookTest, KnowsForEachWindowWhatBecameOfAChildsCall) {
  WindowBook::Window* outer = open();
  const Generation entered_in = kernel_.segment();
  kernel_.call_in_child("cc");
  kernel_.call_in_child("ld");
  WindowBook::Window* inner = open();
  kernel_.end_in_child(entered_in, "cc", Crossing::Outcome::kCall);
  kernel_.end_in_child(entered_in, "ld", Crossing::Outcome::kNoReturn);
  detail::CostData of_inner(std::pmr::get_default_resource());
  book_.close(inner, of_inner);
  EXPECT_EQ(of_inner.programs.at("cc").at(kReadId).carried_in, 1U);
  EXPECT_EQ(of_inner.programs.at("ld").at(kReadId).carried_in, 1U);
  detail::CostData of_outer(std::pmr::get_default_resource());
  book_.close(outer, of_outer);
  EXPECT_EQ(of_outer.programs.at("cc").at(kReadId).calls, 1U);
  EXPECT_EQ(of_outer.programs.at("ld").at(kReadId).no_return, 1U);
  EXPECT_EQ(of_outer.programs.at("ld").at(kReadId).in_flight(), 0U);
  EXPECT_TRUE(of_inner.table.at(kReadId).empty());
  EXPECT_TRUE(of_outer.table.at(kReadId).empty());
}

TEST_F(WindowBookTest, ChargesAnInnerWindowsCallsToTheOuterOneToo) {
  WindowBook::Window* outer = open();
  kernel_.call();
  WindowBook::Window* inner = open();
  kernel_.call();
  EXPECT_EQ(close(inner).calls, 1U);
  kernel_.call();
  EXPECT_EQ(close(outer).calls, 3U);
}

TEST_F(WindowBookTest, KeepsOverlappingWindowsApart) {
  WindowBook::Window* first = open();
  kernel_.call();
  WindowBook::Window* second = open();
  kernel_.call();
  EXPECT_EQ(close(first).calls, 2U);
  kernel_.call();
  EXPECT_EQ(close(second).calls, 2U);
}

TEST_F(WindowBookTest, ChargesAThreadWindowOnlyWithItsThreadsCalls) {
  WindowBook::Window* test = open();
  WindowBook::Window* scope = open(Reach::thread);
  kernel_.call(Lane{1});
  kernel_.call();  // another thread
  EXPECT_EQ(close(scope).calls, 1U);
  kernel_.call(Lane{1});  // follows the process again
  EXPECT_EQ(close(test).calls, 3U);
}

TEST_F(WindowBookTest, NestsThreadWindowsOnOneThread) {
  WindowBook::Window* outer = open(Reach::thread);
  kernel_.call(Lane{1});
  WindowBook::Window* inner = open(Reach::thread);
  kernel_.call(Lane{1});
  EXPECT_EQ(close(inner).calls, 1U);
  kernel_.call(Lane{1});
  EXPECT_EQ(close(outer).calls, 3U);
  EXPECT_FALSE(kernel_.armed(Lane{1}));
}

TEST_F(WindowBookTest, SplitsAThreadWindowWhenAProcessWindowOpensOrCloses) {
  WindowBook::Window* scope = open(Reach::thread);
  kernel_.call(Lane{1});
  WindowBook::Window* test = open();
  kernel_.call(Lane{1});
  kernel_.call();
  EXPECT_EQ(close(test).calls, 2U);
  kernel_.call(Lane{1});
  EXPECT_EQ(close(scope).calls, 3U);
}

TEST_F(WindowBookTest, ReportsACallThatDoesNotReturnAsInFlightAndNotInTheNextWindow) {
  WindowBook::Window* first = open();
  FakeBackend::Inside blocked = kernel_.enter();
  Tally before = close(first);
  EXPECT_EQ(before.entries, 1U);
  EXPECT_EQ(before.calls, 0U);
  EXPECT_EQ(before.in_flight(), 1U);

  WindowBook::Window* second = open();
  kernel_.leave(blocked);
  Tally after = close(second);
  EXPECT_EQ(after.carried_in, 1U);
  EXPECT_EQ(after.entries, 0U);
  EXPECT_EQ(after.calls, 0U);
  EXPECT_EQ(after.latency.count(), 0U);
}

TEST_F(WindowBookTest, DropsACallThatReturnsWhileNothingIsArmed) {
  WindowBook::Window* first = open();
  FakeBackend::Inside blocked = kernel_.enter();
  close(first);
  kernel_.leave(blocked);
  WindowBook::Window* second = open();
  EXPECT_TRUE(close(second).empty());
}

TEST_F(WindowBookTest, CountsACallEnteredBeforeAnyWindowAsCarriedIn) {
  FakeBackend::Inside blocked = kernel_.enter();
  WindowBook::Window* window = open();
  kernel_.leave(blocked);
  EXPECT_EQ(close(window).carried_in, 1U);
}

TEST_F(WindowBookTest, FinishesACallThatCrossesAnInnerBoundaryInTheOuterWindow) {
  WindowBook::Window* test = open();
  FakeBackend::Inside blocked = kernel_.enter();
  WindowBook::Window* scope = open();
  kernel_.leave(blocked, Lane::kProcess, EINTR);
  Tally inner = close(scope);
  EXPECT_EQ(inner.carried_in, 1U);
  EXPECT_EQ(inner.calls, 0U);
  Tally outer = close(test);
  EXPECT_EQ(outer.calls, 1U);
  EXPECT_EQ(outer.errors.count(EINTR), 1U);
  EXPECT_EQ(outer.in_flight(), 0U);
  EXPECT_EQ(outer.carried_in, 0U);
  EXPECT_EQ(outer.latency.count(), 1U);
}

TEST_F(WindowBookTest, LeavesACallInFlightForTheInnerWindowItEntered) {
  WindowBook::Window* test = open();
  WindowBook::Window* scope = open();
  FakeBackend::Inside blocked = kernel_.enter();
  EXPECT_EQ(close(scope).in_flight(), 1U);
  kernel_.leave(blocked);
  Tally outer = close(test);
  EXPECT_EQ(outer.calls, 1U);
  EXPECT_EQ(outer.in_flight(), 0U);
}

TEST_F(WindowBookTest, DoesNotChargeASuspendedWindow) {
  WindowBook::Window* test = open();
  kernel_.call();
  book_.suspend(test);
  kernel_.call();
  EXPECT_FALSE(kernel_.armed(Lane::kProcess));
  book_.resume(test);
  kernel_.call();
  EXPECT_EQ(close(test).calls, 2U);
}

TEST_F(WindowBookTest, ChargesALoopInsideASuspendedTestToTheLoopOnly) {
  WindowBook::Window* test = open();
  book_.suspend(test);
  WindowBook::Window* loop = open();
  kernel_.call();
  EXPECT_EQ(close(loop).calls, 1U);
  book_.resume(test);
  EXPECT_EQ(close(test).calls, 0U);
}

TEST_F(WindowBookTest, ADeputyHasWhatNoOtherWindowHas) {
  WindowBook::Window* deputy = open();
  std::uint64_t of_tests = 0;
  for (int test = 1; test <= 3; ++test) {
    kernel_.call();
    WindowBook::Window* window = book_.open(Reach::process, deputy);
    for (int i = 0; i < test; ++i) kernel_.call();
    detail::CostData cost(std::pmr::get_default_resource());
    book_.close(window, cost, deputy);
    of_tests += cost.table.at(kReadId).calls;
  }
  kernel_.call();
  EXPECT_EQ(of_tests, 6U);
  EXPECT_EQ(close(deputy).calls, 4U);
  EXPECT_FALSE(kernel_.armed(Lane::kProcess));
}

TEST_F(WindowBookTest, ADeputyFinishesACallThatOutlivesATest) {
  WindowBook::Window* deputy = open();
  FakeBackend::Inside crossing = kernel_.enter();
  WindowBook::Window* window = book_.open(Reach::process, deputy);
  FakeBackend::Inside into_gap = kernel_.enter();
  detail::CostData cost(std::pmr::get_default_resource());
  book_.close(window, cost, deputy);
  kernel_.leave(crossing);
  kernel_.leave(into_gap);
  EXPECT_EQ(cost.table.at(kReadId).in_flight(), 1U);
  const Tally between = close(deputy);
  EXPECT_EQ(between.calls, 1U);
  EXPECT_EQ(between.carried_in, 1U);
}

TEST_F(WindowBookTest, ADeputyRunsWhileAWindowIsSuspendedForIt) {
  WindowBook::Window* deputy = open();
  WindowBook::Window* window = book_.open(Reach::process, deputy);
  kernel_.call();
  book_.suspend(window);
  kernel_.call();  // of a loop: of neither
  book_.resume(window);
  book_.suspend(window, deputy);
  kernel_.call();
  kernel_.call();
  book_.resume(window, deputy);
  kernel_.call();
  EXPECT_EQ(close(window).calls, 2U);
  EXPECT_EQ(close(deputy).calls, 2U);
}

TEST_F(WindowBookTest, ADeputyHasTheLossesOfItsOwnTimeOnly) {
  WindowBook::Window* deputy = open();
  kernel_.lose(1);
  WindowBook::Window* window = book_.open(Reach::process, deputy);
  kernel_.lose(10);
  kernel_.be_late_at_next_read(2);
  detail::CostData cost(std::pmr::get_default_resource());
  book_.close(window, cost, deputy);
  EXPECT_EQ(cost.lost, 10U);
  EXPECT_EQ(cost.late, 2U);
  kernel_.lose(4);
  close(deputy);
  EXPECT_EQ(lost_, 5U);
  EXPECT_EQ(late_, 0U);
}

TEST_F(WindowBookTest, MutesAThreadUntilTheOutermostEnds) {
  WindowBook::Window* window = open();
  const std::optional<Lane> outer = book_.mute();
  const std::optional<Lane> inner = book_.mute();
  book_.unmute(inner);
  kernel_.call(Lane{1});
  book_.unmute(outer);
  kernel_.call(Lane{1});
  EXPECT_EQ(close(window).calls, 1U);
}

TEST_F(WindowBookTest, ReportsLossesOfItsOwnTimeOnly) {
  kernel_.lose(5);
  WindowBook::Window* window = open();
  kernel_.lose(2);
  close(window);
  EXPECT_EQ(lost_, 2U);
}

TEST_F(WindowBookTest, ChargesWhatCameTooLateToTheWindowsThatMissIt) {
  WindowBook::Window* outer = open();
  kernel_.be_late_at_next_read(1);
  WindowBook::Window* inner = open();  // ends a segment that only the outer window holds
  close(inner);
  EXPECT_EQ(late_, 0U);
  kernel_.be_late_at_next_read(2);
  close(outer);
  EXPECT_EQ(late_, 3U);
}

TEST_F(WindowBookTest, ChargesAMutedThreadToNoWindow) {
  WindowBook::Window* process = open();
  WindowBook::Window* thread = open(Reach::thread);
  kernel_.call(Lane{1});
  const std::optional<Lane> muted = book_.mute();
  EXPECT_EQ(muted, Lane{1});
  kernel_.call(Lane{1});  // syscost's own
  kernel_.call();         // another thread's
  close(open());          // splits the segments of every lane
  kernel_.call(Lane{1});
  WindowBook::Window* pass = open();
  book_.unmute(muted);
  kernel_.call(Lane{1});
  EXPECT_EQ(close(pass).calls, 1U);
  EXPECT_EQ(close(thread).calls, 2U);
  EXPECT_EQ(close(process).calls, 3U);
  EXPECT_EQ(lost_, 0U);
}

TEST_F(WindowBookTest, GivesTheLaneOfAMutedThreadBack) {
  WindowBook::Window* process = open();
  const std::optional<Lane> muted = book_.mute();
  kernel_.call(Lane{1});
  book_.unmute(muted);
  kernel_.call(Lane{1});
  EXPECT_EQ(kernel_.charged_lane(Lane{1}), Lane::kProcess);
  EXPECT_EQ(close(process).calls, 1U);
}

TEST_F(WindowBookTest, EndsAThreadsWindowWhileTheThreadIsMuted) {
  WindowBook::Window* process = open();
  WindowBook::Window* thread = open(Reach::thread);
  const std::optional<Lane> muted = book_.mute();
  EXPECT_EQ(close(thread).calls, 0U);
  kernel_.call(Lane{1});
  book_.unmute(muted);
  kernel_.call(Lane{1});
  EXPECT_EQ(close(process).calls, 1U);
}

TEST_F(WindowBookTest, SaysThatCallsMayBeMissingWhereAMutedThreadHasNoLane) {
  WindowBook::Window* process = open();
  kernel_.use_thread_lane(Lane::kProcess);
  const std::optional<Lane> muted = book_.mute();
  EXPECT_FALSE(muted.has_value());
  kernel_.call();
  book_.unmute(muted);
  kernel_.call();
  EXPECT_EQ(close(process).calls, 1U);
  EXPECT_EQ(lost_, 1U);
}

TEST_F(WindowBookTest, OpensNoThreadWindowWithoutALane) {
  kernel_.use_thread_lane(Lane::kProcess);
  EXPECT_EQ(book_.open(Reach::thread), nullptr);
}

TEST_F(WindowBookTest, EndsWhatAThreadLeftOpenWhenAnotherTakesItsLane) {
  WindowBook::Window* test = open();
  WindowBook::Window* left_open = open(Reach::thread);
  kernel_.call(Lane{1});
  kernel_.leave_lane_open();
  WindowBook::Window* other = open(Reach::thread);
  kernel_.call(Lane{1});
  kernel_.call(Lane{1});
  EXPECT_EQ(close(left_open).calls, 1U) << "closed by somebody else, while the lane is in use";
  EXPECT_TRUE(kernel_.armed(Lane{1}));
  kernel_.call(Lane{1});
  EXPECT_EQ(close(other).calls, 3U);
  EXPECT_FALSE(kernel_.armed(Lane{1}));
  kernel_.call(Lane{1});
  EXPECT_EQ(close(test).calls, 5U);
}

}  // namespace
}  // namespace syscost
