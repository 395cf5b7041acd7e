// SPDX-License-Identifier: MIT
//
// Tools beside us, around tests and loops: when they come and go, and what becomes of what they say.
#include <filesystem>

#include "os/message_output.h"
#include "session/fake_profiler.h"
#include "session/loops/loop_run.h"
#include "session/session_fixture.h"
#include "session/windows/scopes.h"

namespace syscost::session {
namespace {

using schema::Column;
using ::syscost::testing::FakeProfiler;
using ::syscost::testing::FakeTool;
using ::syscost::testing::write_file;

class SessionToolsTest : public SessionTest {
 protected:
  SessionToolsTest() {
    options_.profile_bpftrace = true;
    options_.cycles = 3;
    options_.repeats = 1;
    options_.warm_ups = 0;
    tools_ = [this](const Options&) -> Result<ToolList> {
      ToolList tools;
      tools.push_back(std::make_unique<FakeProfiler>(tool_));
      return tools;
    };
    watcher_ = [this](const char* what) {
      tool_.log.push_back(std::string(what) + (tool_.word.load() == profilers::kArmed ? ", tool armed" : ""));
    };
  }

  /// A read, seen by both.
  void call() {
    fake_.call();
    tool_.call();
  }
  void loop(const std::string& name) {
    LoopRun run(session().loops(), name);
    while (const std::uint64_t calls = run.next_pass()) {
      for (std::uint64_t i = 0; i < calls; ++i) call();
    }
  }
  adapter::Report close(int framework_writes = 0) { return session().windows().close("passed", framework_writes); }
  /// The lines of the log since the session started.
  std::vector<std::string> log_of(const std::function<void()>& run) {
    session();
    tool_.log.clear();
    run();
    return tool_.log;
  }
  std::string artifacts(const std::string& file) const {
    return folder_.file("syscost_artifacts/run/") + program_invocation_short_name + "/" + file;
  }
  Keys tool_rows() const {
    Keys found;
    for (const std::string& row :
         rows({Column::kOrigin, Column::kKind, Column::kWindow, Column::kRecord, Column::kIterations,
               Column::kTotalEntries, Column::kEntries, Column::kHistogram})) {
      if (row.starts_with("bpftrace")) found.push_back(row);
    }
    return found;
  }

  FakeTool tool_;
};

TEST_F(SessionToolsTest, AttachesBeforeTheWindowOpensAndStopsAfterItCloses) {
  const auto log = log_of([&] {
    open("A.B");
    call();
    close();
  });
  EXPECT_EQ(log, (Keys{"attach", "ours opens", "ours closes", "detach"})) << "armed only inside of our window";
  EXPECT_EQ(tool_rows(), (Keys{"bpftrace|test||test||1|||", "bpftrace|test||syscall|||1|512:1|"}));
}

TEST_F(SessionToolsTest, ArmsInsideTheWindowOnly) {
  session();
  open("A");
  EXPECT_EQ(tool_.word.load(), profilers::kArmed);
  close();
  EXPECT_EQ(tool_.word.load(), profilers::kDisarmed);
}

TEST_F(SessionToolsTest, LooksAtTestsAndNotAtSetUps) {
  const auto log = log_of([&] {
    adapter::WindowName name;
    name.kind = adapter::Kind::suite;
    name.test = "Suite";
    name.window = "set-up";
    session().windows().open(name);
    call();
    close();
  });
  EXPECT_EQ(log, (Keys{"ours opens", "ours closes"}));
  EXPECT_EQ(tool_rows(), Keys());
}

TEST_F(SessionToolsTest, GivesATracedTestNoTimes) {
  open("A");
  call();
  const adapter::Report report = close();
  EXPECT_EQ(report.line, "1 read, traced by bpftrace: no times");
  EXPECT_FALSE(report.cost.kernel_ns("*").has_value());
  EXPECT_EQ(rows({Column::kOrigin, Column::kRecord, Column::kWallNs, Column::kUserNs, Column::kVoluntarySwitches,
                  Column::kMinorFaults, Column::kOverheadEstimateNs, Column::kTotalKernelNs, Column::kLatencyCount,
                  Column::kP50Ns}),
            (Keys{"bpftrace|test|||||||||", "bpftrace|syscall|||||||1||", "syscost|test|||||||||",
                  "syscost|syscall|||||||||"}));
}

TEST_F(SessionToolsTest, SaysUnderATestWhatTheToolSawAndThatItAgrees) {
  open("A.B");
  call();
  EXPECT_EQ(close().tools, (Keys{"saw 1", "syslat: 1 read, as counted", artifacts("A.B")}));
  EXPECT_EQ(session().problem(), "");
  EXPECT_EQ(read_file(artifacts("A.B/syslat.txt")), "saw 1");
  EXPECT_NE(read_file(artifacts("A.B/syslat.check.json")).find("\"agrees\": true"), std::string::npos);
}

TEST_F(SessionToolsTest, SaysThatAToolLostEventsWhateverItCounts) {
  tool_.lost_events = 3;
  const std::string lost = "syslat: lost 3 events, there may have been more than it shows";
  open("A.B");
  call();
  EXPECT_EQ(close().tools, (Keys{"saw 1", lost, "syslat: 1 read, as counted", artifacts("A.B")}));
  tool_.counts_syscalls = false;
  open("A.C");
  call();
  EXPECT_EQ(close().tools, (Keys{"saw 1", lost, artifacts("A.C")}));
}

TEST_F(SessionToolsTest, SaysWhereTheToolDiffersAndKeepsTheRunWhole) {
  open("A.B");
  call();
  tool_.call();
  ::testing::internal::CaptureStderr();
  note_message_output();
  const adapter::Report report = close();
  const std::string said = ::testing::internal::GetCapturedStderr();
  note_message_output();
  EXPECT_EQ(said,
            "syscost: script syslat and our count differ in test A.B: read entries 2 seen, 1 counted, read returned 2 "
            "seen, 1 counted\n");
  EXPECT_EQ(session().problem(), "");
  EXPECT_NE(read_file(artifacts("A.B/syslat.check.json")).find("\"agrees\": false"), std::string::npos);
}

TEST_F(SessionToolsTest, CallsItAProblemWhenAToolSawNothing) {
  open("A.B");
  fake_.call();
  close();
  EXPECT_NE(session().problem().find("script syslat saw nothing of test A.B, in which 1 syscalls"), std::string::npos)
      << session().problem();
}

TEST_F(SessionToolsTest, ComparesNothingWhereNothingCounts) {
  options_.backend = BackendChoice::none;
  open("A.B");
  tool_.call();
  EXPECT_EQ(close().tools.at(1), "syslat: 1 read, not compared: nothing else counts here");
  EXPECT_EQ(session().problem(), "");
}

TEST_F(SessionToolsTest, TracesALoopInOnePassMore) {
  const auto log = log_of([&] {
    open("A.B");
    loop("flush");
    const adapter::Report report = close();
    ASSERT_EQ(report.loops.size(), 4U);
    EXPECT_EQ(report.loops[0].substr(0, 27), "loop flush: 1 read a call, ");
    EXPECT_EQ(report.loops[1], "saw 3");
    EXPECT_EQ(report.loops[2], "syslat: 3 read, as counted");
    EXPECT_EQ(report.loops[3], artifacts("A.B/loop flush"));
  });
  EXPECT_EQ(log, (Keys{"attach", "ours opens", "ours closes", "detach",     // the test, up to the loop
                       "ours comes off", "ours goes on",                    // timed passes
                       "ours opens", "ours closes",                         // counted
                       "attach", "ours opens", "ours closes", "detach",     // traced
                       "attach", "ours opens", "ours closes", "detach"}));  // the test's rest
  EXPECT_EQ(tool_rows(), (Keys{"bpftrace|loop|flush|test|3|3|||", "bpftrace|loop|flush|syscall|||3|512:3|",
                               "bpftrace|test||test||0|||"}));
}

TEST_F(SessionToolsTest, KeepsTimesAndLatenciesOfALoopBesideItsTrace) {
  open("A");
  loop("flush");
  close();
  const Keys all = rows({Column::kOrigin, Column::kKind, Column::kRecord, Column::kWallNs});
  ASSERT_EQ(all.front().substr(0, 18), "syscost|loop|test|");
  EXPECT_NE(all.front(), "syscost|loop|test||");
}

TEST_F(SessionToolsTest, AddsUpWhatATestDoesBeforeAndAfterItsLoops) {
  open("A.B");
  call();
  loop("flush");
  call();
  loop("flush");
  call();
  EXPECT_EQ(close().tools, (Keys{"  part 1:", "saw 1", "  part 2:", "saw 1", "  part 3:", "saw 1",
                                 "syslat: 3 read, as counted", artifacts("A.B")}));
  EXPECT_TRUE(std::filesystem::exists(artifacts("A.B/syslat.3.txt")));
  EXPECT_TRUE(std::filesystem::exists(artifacts("A.B/loop flush~2/syslat.txt")));
  EXPECT_EQ(tool_rows().back(), "bpftrace|test||syscall|||3|512:3|");
}

TEST_F(SessionToolsTest, ThrowsAwayHalfATracedPass) {
  open("A.B");
  {
    LoopRun run(session().loops(), "flush");
    for (int pass = 0; pass < 3; ++pass) run.next_pass();  // timed, counted, and into the traced one
    ASSERT_EQ(tool_.word.load(), profilers::kArmed);
  }
  close();
  EXPECT_EQ(tool_rows(), (Keys{"bpftrace|test||test||0|||"}));
  EXPECT_FALSE(tool_.is_attached);
}

TEST_F(SessionToolsTest, LeavesALoopInsideAScopeUntraced) {
  open("A.B");
  Cost cost = unavailable_cost::pending();
  ScopeRecord* scope = session().scopes().open("mine", Reach::process, cost);
  ASSERT_NE(scope, nullptr);
  loop("flush");
  session().scopes().close(scope);
  close();
  for (const std::string& row : tool_rows()) EXPECT_EQ(row.find("|loop|"), std::string::npos) << row;
  for (const std::string& row : rows({Column::kOrigin, Column::kKind, Column::kRecord, Column::kWallNs,
                                      Column::kOverheadEstimateNs, Column::kLatencyCount, Column::kTotalKernelNs})) {
    if (row.starts_with("bpftrace")) continue;
    EXPECT_TRUE(row.ends_with("|||||")) << "under a tool there are no times: " << row;
  }
}

TEST_F(SessionToolsTest, TakesTheFrameworksWritesOutOfBothCounts) {
  open("A");
  tool_.call(1, 2);  // the fake backend knows reads only; what it does not know is reported and left out of the rows
  close(2);
  EXPECT_EQ(tool_rows(), (Keys{"bpftrace|test||test||0|||"}));
}

TEST_F(SessionToolsTest, RefusesToStartWithAToolThatDoesNotWork) {
  tool_.refuses_check = true;
  session();
  ASSERT_FALSE(started_.ok());
  EXPECT_EQ(started_.failure().reason, "the fake tool is missing");
  EXPECT_FALSE(std::filesystem::exists(options_.csv)) << "nothing is written for a run that does not happen";
}

TEST_F(SessionToolsTest, RefusesToStartWhereArtifactsCannotBeWritten) {
  write_file(folder_.file("file"), "");
  options_.artifacts = folder_.file("file");
  session();
  ASSERT_FALSE(started_.ok());
  EXPECT_NE(started_.failure().reason.find(folder_.file("file")), std::string::npos) << started_.failure().reason;
}

TEST_F(SessionToolsTest, GoesOnWithoutAToolThatFailsLater) {
  session();
  tool_.refuses_attach = true;
  open("A");
  call();
  const adapter::Report report = close();
  EXPECT_EQ(report.line.find("traced"), std::string::npos) << "nothing was attached: the times are true";
  EXPECT_EQ(report.cost.calls("read"), 1);
  EXPECT_EQ(session().problem(), "the fake tool ended at once");
  EXPECT_EQ(tool_rows(), Keys());
}

TEST_F(SessionToolsTest, RemembersAToolThatCouldNotSayWhatItFound) {
  session();
  tool_.refuses_detach = true;
  open("A");
  call();
  const adapter::Report report = close();
  EXPECT_EQ(session().problem(), "the fake tool said nothing");
  EXPECT_EQ(report.tools, Keys()) << "no folder to look into";
  EXPECT_FALSE(std::filesystem::exists(artifacts("A")));
  EXPECT_EQ(report.cost.calls("read"), 1);
  EXPECT_EQ(tool_rows(), Keys());
}

TEST_F(SessionToolsTest, KeepsVerdictsAndRowsWhenArtifactsCannotBeWrittenAnyMore) {
  session();
  std::filesystem::remove_all(folder_.file("syscost_artifacts"));
  write_file(folder_.file("syscost_artifacts"), "a file in the way");
  for (const char* test : {"A", "B"}) {
    open(test);
    call();
    EXPECT_EQ(close().cost.calls("read"), 1);
  }
  EXPECT_NE(session().problem().find("the artifacts of test A are incomplete"), std::string::npos)
      << session().problem();
  EXPECT_EQ(session().problem().find("more problem"), std::string::npos) << "said once: " << session().problem();
  EXPECT_EQ(tool_rows().size(), 4U);
}

TEST_F(SessionToolsTest, NumbersTheFoldersOfRepetitions) {
  open("A.B", 0);
  close();
  open("A.B", 2);
  close();
  EXPECT_TRUE(std::filesystem::exists(artifacts("A.B/syslat.txt")));
  EXPECT_TRUE(std::filesystem::exists(artifacts("A.B.2/syslat.txt")));
}

TEST_F(SessionToolsTest, WritesNoRowsForAScriptThatCountsNothing) {
  session();
  tool_.counts_syscalls = false;
  open("A");
  close();
  EXPECT_EQ(tool_rows(), Keys());
}

}  // namespace
}  // namespace syscost::session
