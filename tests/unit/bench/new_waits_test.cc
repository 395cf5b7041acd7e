// SPDX-License-Identifier: MIT
//
// A wait that no run of OLD made, such as a poll in the place of a condition variable.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "baseline_file.h"
#include "csv_text.h"
#include "judge/verdict.h"
#include "windows.h"

namespace syscost::bench::judge {
namespace {

stats::SyscallSummary wait_of(const std::string& name, stats::Numbers calls) {
  stats::SyscallSummary one = syscall(name, calls);
  one.classes = "wait;volatile";
  one.is_wait = true;
  return one;
}

stats::WindowSummary waits(bool has_other_threads, std::vector<stats::SyscallSummary> calls) {
  stats::WindowSummary one = window(std::move(calls));
  one.has_other_threads = has_other_threads;
  return one;
}

Comparison compare(const stats::WindowSummary& before, const stats::WindowSummary& after,
                   const CountPolicy& policy = {}) {
  return compare_windows(&before, &after, policy);
}

CountPolicy gating() {
  CountPolicy policy;
  policy.gate_waits();
  return policy;
}

TEST(NewWaits, AreNamedAlsoInTestsWithThreads) {
  for (const char* name : {"poll", "ppoll", "clock_nanosleep", "nanosleep", "epoll_wait", "select", "sched_yield"}) {
    const stats::WindowSummary before = waits(true, {wait_of("futex", exact(42))});
    const stats::WindowSummary after = waits(true, {wait_of(name, exact(15))});
    const Comparison row = compare(before, after);
    EXPECT_EQ(row.verdict, Verdict::same) << name;
    EXPECT_EQ(row.reason, std::string("a wait that OLD never made: 15 ") + name);
    EXPECT_TRUE(row.has_changes()) << "shown without --all: " << name;
    EXPECT_EQ(compare(before, after, gating()).verdict, Verdict::in_doubt) << name;
  }
}

TEST(NewWaits, OfOneThreadAreNamedBesideTheVerdict) {
  const stats::WindowSummary before = waits(false, {wait_of("poll", exact(10))});
  const stats::WindowSummary after = waits(false, {wait_of("nanosleep", exact(10))});
  const Comparison row = compare(before, after);
  EXPECT_EQ(row.verdict, Verdict::exchanged);
  EXPECT_EQ(row.reason, "a wait that OLD never made: 10 nanosleep");
  EXPECT_EQ(compare(before, after, gating()).verdict, Verdict::regressed);
}

TEST(NewWaits, AreNoneThatSomeRunOfOldMade) {
  const stats::WindowSummary once = waits(true, {wait_of("poll", stats::spread_of({0, 1}))});
  const stats::WindowSummary often = waits(true, {wait_of("poll", exact(500))});
  EXPECT_EQ(compare(once, often).reason, "");
  EXPECT_FALSE(compare(once, often).has_changes());
  EXPECT_EQ(compare(once, often, gating()).verdict, Verdict::same);
}

TEST(NewWaits, AreNoneThatNewMakesNowAndThen) {
  const stats::WindowSummary before = waits(true, {});
  const stats::WindowSummary after = waits(true, {wait_of("poll", stats::spread_of({0, 1}))});
  EXPECT_EQ(compare(before, after).reason, "");
  EXPECT_NE(compare(before, after, gating()).verdict, Verdict::regressed);
}

// A futex waits for a thread of the test, and wait4 for a process; epoll_ctl waits for nothing.
TEST(NewWaits, AreNoOtherCalls) {
  for (const char* name : {"futex", "wait4", "epoll_ctl", "epoll_create1", "read", "fcntl"}) {
    const stats::WindowSummary before = waits(true, {});
    const stats::WindowSummary after = waits(true, {wait_of(name, exact(15))});
    EXPECT_EQ(compare(before, after).reason.find("a wait"), std::string::npos) << name;
  }
}

TEST(NewWaits, ThatAUserNamesAsVolatileAreNotGated) {
  CountPolicy policy = gating();
  ASSERT_FALSE(policy.add_volatile("poll").has_value());
  const stats::WindowSummary before = waits(true, {});
  const stats::WindowSummary after = waits(true, {wait_of("poll", exact(15))});
  EXPECT_EQ(compare(before, after, policy).verdict, Verdict::same);
}

}  // namespace
}  // namespace syscost::bench::judge

namespace syscost::bench {
namespace {

/// The flusher of a log: OLD waits by a condition variable, NEW by a sleep of a millisecond in a loop.
class Polling : public BaselineFile {
 protected:
  std::string make(const std::string& id, const std::string& wait, int calls, const std::string& line) {
    const testing::Cells key = {{"run_id", id}};
    testing::Cells totals = key;
    totals.insert({{"total_calls", std::to_string(calls + 4)}});
    testing::Cells writes = key;
    writes.insert({{"calls", "4"}, {"by_started_threads", "0"}, {"by_older_threads", "0"}});
    testing::Cells cells = key;
    cells.insert({{"syscall", wait},
                  {"class", "wait;volatile"},
                  {"calls", std::to_string(calls)},
                  {"detail", line},
                  {"by_started_threads", "2"},
                  {"by_older_threads", "0"}});
    std::ofstream(path(id + ".csv")) << testing::header() << testing::test_row(totals) << testing::syscall_row(writes)
                                     << testing::syscall_row(cells);
    return path(id + ".csv");
  }
  void SetUp() override {
    BaselineFile::SetUp();
    old_ = make("old", "futex", 42, "at src/flusher.cc:30 Flusher::run+5");
    new_ = make("new", "clock_nanosleep", 15, "at src/flusher.cc:33 Flusher::run+7");
    ASSERT_EQ(update({old_}), 0) << err_.str();
  }
  bool says(const std::string& text) const { return out_.str().find(text) != std::string::npos; }

  std::string old_;
  std::string new_;
};

constexpr const char* kNamed = "a wait that OLD never made: 15 clock_nanosleep, src/flusher.cc:33 Flusher::run";

TEST_F(Polling, InThePlaceOfAConditionVariableIsShownWithItsLine) {
  EXPECT_EQ(run({"compare", old_, new_}), 0) << err_.str();
  EXPECT_TRUE(says(std::string("same: ") + kNamed)) << out_.str();
  EXPECT_TRUE(says("  clock_nanosleep: +15 at src/flusher.cc:33 Flusher::run (new)")) << out_.str();
  EXPECT_EQ(check(new_), 0) << err_.str();
  EXPECT_TRUE(says(kNamed)) << out_.str();
  EXPECT_EQ(run({"compare", old_, new_, "--format", "md"}), 0);
  EXPECT_TRUE(says("a wait that OLD never made")) << out_.str();
  EXPECT_EQ(run({"compare", new_, old_}), 0);
  EXPECT_FALSE(says("a wait that")) << out_.str();
}

/// Beside other threads one run proves nothing.
TEST_F(Polling, IsInDoubtUntilRunsDecideIfNewWaitsAreGated) {
  EXPECT_EQ(run({"compare", old_, new_, "--gate-waits"}), 0) << out_.str();
  EXPECT_TRUE(says("in doubt: ") && says(kNamed)) << out_.str();
  EXPECT_EQ(run({"compare", old_, new_, "--gate-waits", "--strict"}), 3) << out_.str();
  EXPECT_EQ(check(new_, {"--gate-waits", "--strict"}), 3) << out_.str();
  EXPECT_EQ(check(old_, {"--gate-waits"}), 0) << out_.str();
  std::ofstream(path("rules.toml")) << "gate-waits = true\n";
  EXPECT_EQ(run({"compare", old_, new_, "--strict", "--config", path("rules.toml")}), 3) << out_.str();
  EXPECT_TRUE(says("rules.toml: gate-waits")) << out_.str();
  std::ofstream(path("rules.toml")) << "gate-waits = true\n[[accept]]\ntest = \"*\"\nwhat = \"clock_nanosleep\"\n"
                                       "reason = \"a timer\"\n";
  EXPECT_EQ(run({"compare", old_, new_, "--config", path("rules.toml")}), 0) << out_.str();
  EXPECT_TRUE(says("accepted: ")) << out_.str();
  std::ofstream(path("rules.toml")) << "gate-waits = 1\n";
  EXPECT_EQ(run({"compare", old_, new_, "--config", path("rules.toml")}), 2);
}

}  // namespace
}  // namespace syscost::bench
