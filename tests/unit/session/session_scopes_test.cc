// SPDX-License-Identifier: MIT
//
// Scopes: nested, beside each other, by thousands, and the rows they leave.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "os/files.h"
#include "session/session_fixture.h"

namespace syscost::session {
namespace {

TEST_F(SessionTest, CountsScopesUnderTheFilterToo) {
  options_.filter = Filter::parse("/^re/").value();
  open("Suite.Test");
  Cost cost(Unavailable{"", ""});
  ScopeRecord* scope = session().scopes().open("part", Reach::process, cost);
  fake_.call();
  cost = session().scopes().close(scope);
  EXPECT_EQ(cost.calls("read"), 1);
  EXPECT_FALSE(cost.calls("write").has_value());
  session().windows().close("passed", 0);
}

TEST_F(SessionTest, WritesNamedScopesWithTheirTest) {
  open("A");
  Cost cost(Unavailable{});
  for (int i = 0; i < 2; ++i) {
    ScopeRecord* outer = session().scopes().open("outer", Reach::process, cost);
    ScopeRecord* inner = session().scopes().open("inner", Reach::process, cost);
    fake_.call();
    EXPECT_EQ(session().scopes().close(inner).calls(), 1);
    fake_.call();
    EXPECT_EQ(session().scopes().close(outer).calls(), 2);
  }
  EXPECT_EQ(keys(), Keys{}) << "a test is open";
  EXPECT_EQ(session().windows().close("passed", 0).cost.calls(), 4);
  EXPECT_EQ(keys(), (Keys{"test|A|||0|test|passed|4||", "test|A|||0|syscall|||4|",  //
                          "scope|A|inner|outer|0|test||1||", "scope|A|inner|outer|0|syscall|||1|",
                          "scope|A|outer||0|test||2||", "scope|A|outer||0|syscall|||2|",
                          "scope|A|inner|outer|1|test||1||", "scope|A|inner|outer|1|syscall|||1|",
                          "scope|A|outer||1|test||2||", "scope|A|outer||1|syscall|||2|"}));
}

TEST_F(SessionTest, WritesScopesOutsideTestsOnceNoneIsOpen) {
  Cost cost(Unavailable{});
  ScopeRecord* outer = session().scopes().open("outer", Reach::process, cost);
  session().scopes().close(session().scopes().open("inner", Reach::process, cost));
  EXPECT_EQ(keys(), Keys{});
  session().scopes().close(outer);
  EXPECT_EQ(keys(), (Keys{"scope||inner|outer|0|test||0||", "scope||outer||0|test||0||"}));
}

TEST_F(SessionTest, WritesNoRowForAScopeWithoutAName) {
  Cost cost(Unavailable{});
  session().scopes().close(session().scopes().open("", Reach::process, cost));
  EXPECT_EQ(keys(), Keys{});
}

TEST_F(SessionTest, VoidsAScopeIfItsBackendWasTakenAway) {
  Cost cost(Unavailable{});
  ScopeRecord* scope = session().scopes().open("s", Reach::process, cost);
  is_gone_ = true;
  EXPECT_FALSE(session().scopes().close(scope).available());
  EXPECT_NE(session().problem(), "");
}

TEST_F(SessionTest, IsInertInAForkChild) {
  open("A");
  Cost cost(Unavailable{});
  ScopeRecord* scope = session().scopes().open("s", Reach::process, cost);
  const pid_t child = fork();
  if (child == 0) {
    fake_.call();
    const bool scope_is_inert = !session().scopes().close(scope).available();
    const bool window_is_inert = !session().windows().close("passed", 0).cost.available();
    open("B");
    session().finish();
    _exit(session().is_fork_child() && scope_is_inert && window_is_inert ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(keys(), Keys{});
  EXPECT_FALSE(session().is_fork_child());
  EXPECT_EQ(session().scopes().close(scope).calls(), 0);
  session().windows().close("passed", 0);
  EXPECT_EQ(keys().size(), 2U);
}

TEST_F(SessionTest, CountsScopesOfSeveralThreadsAtOnce) {
  open("A");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this] {
      for (int round = 0; round < 100; ++round) {
        Cost cost(Unavailable{});
        session().scopes().close(session().scopes().open("s", Reach::process, cost));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  session().windows().close("passed", 0);
  EXPECT_EQ(keys().size(), 801U);
  EXPECT_EQ(rows({schema::Column::kRepetition}).back(), "799|");
}

TEST_F(SessionTest, TellsARowThatWaitsOfLossesFoundLater) {
  open("A");
  Cost cost(Unavailable{});
  session().scopes().close(session().scopes().open("s", Reach::process, cost));
  fake_.lose_hidden(3);  // in the scope or after it: unknown
  EXPECT_EQ(session().windows().close("passed", 0).cost.lost(), 3);
  open("B");
  session().scopes().close(session().scopes().open("s", Reach::process, cost));
  EXPECT_EQ(session().windows().close("passed", 0).cost.lost(), 0);
  using schema::Column;
  EXPECT_EQ(rows({Column::kKind, Column::kTest, Column::kLost}),
            (Keys{"test|A|3|", "scope|A|3|", "test|B|0|", "scope|B|0|"}));
}

TEST_F(SessionTest, TellsAScopeOutsideTestsOfHiddenLosses) {
  Cost cost(Unavailable{});
  ScopeRecord* scope = session().scopes().open("s", Reach::process, cost);
  fake_.call();
  fake_.lose_hidden(2);
  cost = session().scopes().close(scope);
  EXPECT_EQ(cost.lost(), 2);
  EXPECT_FALSE(cost.calls("read").has_value());
  EXPECT_GE(cost.calls("read"), 1);
  EXPECT_EQ(rows({schema::Column::kLost}), (Keys{"2|", "|"}));
}

TEST_F(SessionTest, KeepsAThreadScopeExactWhenOtherThreadsLoseEvents) {
  open("A");
  Cost of_thread(Unavailable{});
  Cost of_process(Unavailable{});
  ScopeRecord* process = session().scopes().open("p", Reach::process, of_process);
  ScopeRecord* thread = session().scopes().open("t", Reach::thread, of_thread);
  fake_.lose_hidden_beside_scopes(2);
  fake_.lose_hidden(1);
  of_thread = session().scopes().close(thread);
  of_process = session().scopes().close(process);
  EXPECT_EQ(session().windows().close("passed", 0).cost.lost(), 3);
  using schema::Column;
  EXPECT_EQ(rows({Column::kWindow, Column::kLost}), (Keys{"|3|", "t|1|", "p|3|"}));
}

TEST_F(SessionTest, CountsTheRowsForWhichThereWasNoRoom) {
  open("A");
  Cost cost(Unavailable{});
  const int scopes = static_cast<int>(ScopeRecords::kMaxRows) + 7;
  for (int i = 0; i < scopes; ++i) session().scopes().close(session().scopes().open("s", Reach::process, cost));
  session().windows().close("passed", 0);
  EXPECT_EQ(keys().size(), ScopeRecords::kMaxRows + 1);
  EXPECT_NE(session().problem().find("7 rows of named scopes are missing, closed last in test A"), std::string::npos)
      << session().problem();
  open("B");
  session().scopes().close(session().scopes().open("s", Reach::process, cost));
  session().windows().close("passed", 0);
  EXPECT_EQ(keys().size(), ScopeRecords::kMaxRows + 3) << "there is room again";
}

TEST_F(SessionTest, SaysWhyAScopeHasNoLane) {
  session();
  fake_.use_thread_lane(Lane::kProcess);
  Cost cost(Unavailable{});
  EXPECT_EQ(session().scopes().open("s", Reach::thread, cost), nullptr);
  ASSERT_FALSE(cost.available());
  EXPECT_EQ(
      cost.unavailable()->reason,
      "Backend fake cannot tell this thread from the others: more than 1 threads are inside thread scopes at once, "
      "the thread is older than a backend that sees no older ones (dispatch), or a seccomp filter denies it gettid.");
}

/// A line of the calling process's thread in /proc.
std::string status_line(pid_t thread, std::string_view name) {
  std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return line.substr(name.size());
  }
  return {};
}

/// Polls for about ten seconds. A condition that was true once has come true: a thread that sleeps wakes up again.
bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 10'000; ++i) {
    if (condition()) return true;
    usleep(1000);
  }
  return false;
}

TEST_F(SessionTest, SleepsWhileAnotherThreadWaitsForTheLockOfTheFile) {
  session();
  const int other_program = ::open(options_.csv.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(other_program, LOCK_EX), 0);
  const auto locked = std::chrono::steady_clock::now();
  std::atomic<pid_t> writer_id{0};
  std::thread writer([&] {
    writer_id = gettid();
    Cost cost(Unavailable{});
    session().scopes().close(session().scopes().open("first", Reach::process, cost));  // to be written: waits
  });
  EXPECT_TRUE(comes_true([&] { return status_line(writer_id, "State:").find('S') != std::string::npos; }));
  std::atomic<pid_t> waiter_id{0};
  std::thread waiter([&] {
    waiter_id = gettid();
    Cost cost(Unavailable{});
    session().scopes().close(session().scopes().open("second", Reach::process, cost));  // waits for the first
  });
  const auto has_slept = [&] { return std::atol(status_line(waiter_id, "voluntary_ctxt_switches:").c_str()) >= 5; };
  EXPECT_TRUE(comes_true(has_slept)) << "it spins";
  const bool was_short = std::chrono::steady_clock::now() - locked < std::chrono::milliseconds(FileLock::kPatience);
  flock(other_program, LOCK_UN);
  writer.join();
  waiter.join();
  close(other_program);
  // Where the machine took longer than a writer waits, rows are missing, and a message said so.
  if (was_short) {
    EXPECT_EQ(keys().size(), 2U);
  }
}

}  // namespace
}  // namespace syscost::session
