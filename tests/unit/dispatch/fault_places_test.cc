// SPDX-License-Identifier: MIT
//
// How rules open and close: in which order they are asked, that places are found again, and what stays of closed ones.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "extras/faults/stub/rules.h"
#include "faulted.h"

namespace syscost::dispatch {
namespace {

using DispatchFaultPlaces = FaultedDispatch;
INSTANTIATE_TEST_SUITE_P(Ways, DispatchFaultPlaces, testing::Values(Patching::allowed, Patching::never),
                         [](const auto& way) { return way.param == Patching::allowed ? "patched" : "trapped"; });

TEST_P(DispatchFaultPlaces, AreGoneAfterThePlaceHasAnotherRule) {
  const FaultId first = open(rule_for({SYS_getppid}, EIO));
  EXPECT_EQ(error_of_getppid(), EIO);
  injector_->close(first);
  EXPECT_EQ(injector_->counts(first).hits, 1U);
  const FaultId second = open(rule_for({SYS_getppid}, EPERM));
  EXPECT_EQ(injector_->counts(second).hits, 0U);
  EXPECT_EQ(injector_->counts(first).hits, 0U);
  injector_->close(first);  // no effect
  EXPECT_EQ(error_of_getppid(), EPERM);
  injector_->close(second);
}

TEST_P(DispatchFaultPlaces, AreRefusedWhenTooManyAreOpen) {
  std::vector<FaultId> ids;
  for (std::uint32_t i = 0; i < signal_safe::kFaultRules; ++i) ids.push_back(open(rule_for({SYS_getppid}, EIO)));
  const Result<FaultId> more = injector_->open(rule_for({SYS_getppid}, EIO));
  ASSERT_FALSE(more.ok());
  for (const FaultId id : ids) injector_->close(id);
  EXPECT_EQ(error_of_getppid(), 0);
  EXPECT_TRUE(injector_->open(rule_for({SYS_getuid}, EIO)).ok());
}

/// Two are open at a time, and the older one closes first.
TEST_P(DispatchFaultPlaces, AreFoundHoweverRulesOverlap) {
  FaultId older = open(rule_for({SYS_getppid}, EIO));
  for (std::uint32_t i = 0; i < 3 * signal_safe::kFaultRules; ++i) {
    const int error = i % 2 == 0 ? EPERM : ENOSPC;
    const FaultId newer = open(rule_for({SYS_getppid}, error));
    ASSERT_EQ(error_of_getppid(), error) << "the newest is asked first";
    injector_->close(older);
    ASSERT_EQ(error_of_getppid(), error);
    older = newer;
  }
  injector_->close(older);
  EXPECT_EQ(error_of_getppid(), 0);
}

/// A rule whose place is below that of an older one is asked first all the same.
TEST_P(DispatchFaultPlaces, SayNothingAboutTheOrder) {
  const std::array<int, 3> errors = {EIO, EPERM, ENOSPC};
  std::deque<std::pair<FaultId, int>> all;
  for (const int error : errors) all.emplace_back(open(rule_for({SYS_getppid}, error)), error);
  for (int i = 0; i < 20; ++i) {
    // Each of the three in turn: the newest, the one in the middle, the oldest.
    const std::size_t which = static_cast<std::size_t>(i) % all.size();
    injector_->close(all[which].first);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(which));
    EXPECT_EQ(error_of_getppid(), all.back().second);
    const int error = errors[static_cast<std::size_t>(i) % errors.size()];
    all.emplace_back(open(rule_for({SYS_getppid}, error)), error);
    EXPECT_EQ(error_of_getppid(), error);
  }
  while (!all.empty()) {
    EXPECT_EQ(error_of_getppid(), all.back().second);
    injector_->close(all.back().first);
    all.pop_back();
  }
  EXPECT_EQ(error_of_getppid(), 0);
}

/// While other threads open and close rules of their own, each call of this one is looked at once.
TEST_P(DispatchFaultPlaces, AreTakenByManyThreadsAtATime) {
  FaultRule all = rule_for({SYS_getppid}, 0);
  all.is_process_wide = true;
  const FaultId oldest = open(all);
  std::atomic<bool> is_done{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!is_done) {
        const Result<FaultId> id = injector_->open(rule_for({SYS_getppid}, EIO));
        if (!id.ok() || error_of_getppid() != EIO) ++wrong;
        if (id.ok()) injector_->close(id.value());
      }
    });
  }
  FaultRule mine = rule_for({SYS_getppid}, 0);
  const FaultId counted = open(mine);
  constexpr std::uint64_t kCalls = 20'000;
  for (std::uint64_t i = 0; i < kCalls; ++i) wrong += error_of_getppid() != 0 ? 1 : 0;
  is_done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(injector_->counts(counted).matches, kCalls);
  EXPECT_EQ(injector_->counts(oldest).matches, kCalls) << "what the threads' own rules answer does not reach it";
  injector_->close(counted);
  injector_->close(oldest);
}

/// The counts of places have 16 bits of a generation.
TEST_P(DispatchFaultPlaces, KeepNoHitsOfARuleThatWasLongAgo) {
  FaultRule watch = rule_for({SYS_getppid}, 0);
  watch.is_watch = watch.keeps_hits = true;
  const FaultId before = open(watch);
  for (std::uint32_t i = 0; i < signal_safe::kKeptHits; ++i) getppid();
  injector_->close(before);
  for (int i = 0; i < 0xfffe; ++i) {
    injector_->close(open(rule_for({SYS_getppid}, EIO)));
  }
  const FaultId id = open(watch);
  EXPECT_TRUE(injector_->hits(id).empty());
  EXPECT_TRUE(injector_->hits(before).empty());
  injector_->close(id);
}

TEST_P(DispatchFaultPlaces, KeepWhatAStoppedRuleHasSeenUntilItIsClosed) {
  FaultRule watch = rule_for({SYS_getppid}, 0);
  watch.is_watch = watch.keeps_hits = true;
  const FaultId id = open(watch);
  getppid();
  injector_->stop(id);
  getppid();
  const FaultId other = open(rule_for({SYS_getppid}, EIO));
  EXPECT_NE(other.place, id.place);
  EXPECT_EQ(error_of_getppid(), EIO);
  EXPECT_EQ(injector_->counts(id).hits, 1U);
  EXPECT_EQ(injector_->hits(id).size(), 1U);
  injector_->close(id);
  injector_->close(other);
  const FaultId next = open(watch);
  EXPECT_EQ(next.place, id.place);
  injector_->close(next);
}

}  // namespace
}  // namespace syscost::dispatch
