// SPDX-License-Identifier: MIT
//
// Sweeps of failures: the plan, the outcomes, the state file, and the processes and folders of runs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "faults/contained.h"
#include "faults/framework.h"
#include "faults/outcome.h"
#include "faults/plan.h"
#include "faults/process_tree.h"
#include "faults/state_file.h"
#include "syscost/call_errors.h"

namespace syscost::bench::faults {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int kSignaled = 128;

LearnedTest learned(const std::string& name, std::vector<Place> places) {
  LearnedTest test;
  test.name = name;
  test.is_steady = true;
  for (Place& place : places) {
    place.calls = place.nths.size();
    test.entries[place.syscall] += place.calls;
  }
  test.places = std::move(places);
  return test;
}

LearnedTest saving() {
  return learned("Store.Saves", {{"write", "desc", "store.cc:7 save", {1, 2, 4}, 0},
                                 {"write", "desc", "store.cc:9 save", {3}, 0},
                                 {"fsync", "desc", "store.cc:11 save", {1}, 0},
                                 {"getpid", "", "store.cc:12 save", {1}, 0}});
}

std::vector<std::string> rules(const Plan& plan) {
  std::vector<std::string> all;
  for (const Failure& failure : plan.failures) all.push_back(failure.rule());
  return all;
}

TEST(FaultPlan, FailsTheFirstCallOfEachSiteWithEachErrorOfTheTable) {
  const Plan plan = make_plan({saving()}, {});
  EXPECT_EQ(rules(plan),
            (std::vector<std::string>{"write:error=ENOSPC:nth=1", "write:error=EIO:nth=1", "write:error=ENOSPC:nth=3",
                                      "write:error=EIO:nth=3", "fsync:error=EIO:nth=1"}));
  EXPECT_EQ(plan.size.other_calls, 4U);  // calls 2 and 4 from line 7, with two errors each
  EXPECT_EQ(plan.size.left_out, 0U);
}

TEST(FaultPlan, FailsEveryCallIfAsked) {
  PlanOptions options;
  options.has_every_call = true;
  const Plan plan = make_plan({saving()}, options);
  EXPECT_EQ(plan.failures.size(), 9U);
  EXPECT_EQ(plan.size.other_calls, 0U);
  EXPECT_EQ(plan.failures.front().rule(), "write:error=ENOSPC:nth=1");  // the first of each site comes first
}

TEST(FaultPlan, TakesOtherErrorsIfNamed) {
  PlanOptions options;
  options.calls = "write";
  options.errors = {"EINTR"};
  EXPECT_EQ(rules(make_plan({saving()}, options)),
            (std::vector<std::string>{"write:error=EINTR:nth=1", "write:error=EINTR:nth=3"}));
}

TEST(FaultPlan, ShortensReadsAndWritesOnly) {
  PlanOptions options;
  options.errors = {"SHORT"};
  EXPECT_EQ(rules(make_plan({saving()}, options)),
            (std::vector<std::string>{"write:shorten=1:nth=1", "write:shorten=1:nth=3"}));
  EXPECT_EQ(failure_text("write", "SHORT"), "write moves one byte");
  EXPECT_EQ(error_fault("SHORT"), "");
}

TEST(FaultPlan, FailsEachLaterCallIfAsked) {
  PlanOptions options;
  options.calls = "fsync";
  options.is_lasting = true;
  const Plan plan = make_plan({saving()}, options);
  EXPECT_EQ(rules(plan), std::vector<std::string>{"fsync:error=EIO:nth=1+"});
  EXPECT_EQ(failure_text("fsync", plan.failures[0].error), "fsync and all later ones fail with EIO");
}

TEST(FaultPlan, NamesChosenCallsWithoutAnErrorInTheTable) {
  PlanOptions options;
  options.calls = "*";
  EXPECT_EQ(make_plan({saving()}, options).size.not_in_list, (std::map<std::string, std::uint64_t>{{"getpid", 1}}));
}

TEST(FaultPlan, LeavesOutTestsThatFailByThemselves) {
  LearnedTest broken = saving();
  broken.why_left_out = "alone it is failed";
  const Plan plan = make_plan({broken, saving()}, {});
  EXPECT_EQ(plan.failures.size(), 5U);
  EXPECT_TRUE(
      std::all_of(plan.failures.begin(), plan.failures.end(), [](const Failure& one) { return one.test == 1; }));
}

TEST(FaultPlan, SamplesEachTestAndCountsTheRest) {
  std::vector<LearnedTest> tests;
  for (int i = 0; i < 20; ++i) tests.push_back(saving());
  PlanOptions options;
  options.sample = 20;
  const Plan plan = make_plan(tests, options);
  ASSERT_EQ(plan.failures.size(), 20U);
  EXPECT_EQ(plan.size.left_out, 80U);
  std::set<std::size_t> swept;
  std::set<std::string> distinct;
  for (const Failure& one : plan.failures) {
    swept.insert(one.test);
    distinct.insert(std::to_string(one.test) + one.rule());
  }
  EXPECT_EQ(swept.size(), 20U);
  EXPECT_EQ(distinct.size(), 20U);
  EXPECT_EQ(rules(make_plan(tests, options)), rules(plan));  // the same seed, the same sample
}

TEST(FaultPlan, TableHasEachPairOnceAndReasons) {
  std::set<std::string> pairs;
  for (const CallError& one : kCallErrors) {
    EXPECT_TRUE(pairs.insert(std::string(one.syscall) + " " + std::string(one.name)).second) << one.syscall;
    EXPECT_EQ(error_fault(std::string(one.name)), "");
    EXPECT_FALSE(one.reason.empty());
  }
  EXPECT_EQ(selector_fault(""), "");
  EXPECT_NE(selector_fault("/[/"), "");
  EXPECT_NE(error_fault("enospc"), "");
}

// What a run showed of saving() when its fsync failed.
Observed passed() {
  Observed observed;
  observed.has_row = true;
  observed.verdict = "passed";
  observed.is_hit = true;
  observed.entries = saving().entries;
  observed.end.output = "text";
  return observed;
}
const Failure kFsync = {0, "fsync", 1, "EIO", ""};
const Failure kClose = {0, "close", 1, "EIO", ""};
const Failure kOpen = {0, "openat", 1, "EMFILE", ""};

Outcome outcome(const Observed& observed, const Failure& failure = kFsync) {
  return classify(observed, failure, saving()).outcome;
}

TEST(FaultOutcome, IgnoredIsAPassWithTheSameCallsAfterALoss) {
  EXPECT_EQ(outcome(passed()), Outcome::ignored);
  EXPECT_EQ(outcome(passed(), kOpen), Outcome::survived) << "nothing that was written is lost";
  Observed retried = passed();
  ++retried.entries["fsync"];
  EXPECT_EQ(outcome(retried), Outcome::survived);
  LearnedTest unsteady = saving();
  unsteady.is_steady = false;
  EXPECT_EQ(classify(passed(), kFsync, unsteady).outcome, Outcome::survived) << "equal calls say nothing here";
}

TEST(FaultOutcome, NotReachedIsNoSuccess) {
  Observed observed = passed();
  observed.is_hit = false;
  EXPECT_EQ(outcome(observed), Outcome::not_reached);
  observed.verdict = "failed";
  EXPECT_EQ(outcome(observed), Outcome::not_reached) << "the failure of the test has another cause";
}

TEST(FaultOutcome, ReportedIsAFailedTest) {
  Observed observed = passed();
  observed.verdict = "failed";
  observed.end.status = 1 << 8;
  EXPECT_EQ(outcome(observed), Outcome::reported);
}

TEST(FaultOutcome, SignalsAndTimeLimitsComeFirst) {
  Observed observed = passed();
  observed.end.status = (kSignaled + SIGSEGV) << 8;  // as `bench run` ends
  EXPECT_EQ(outcome(observed), Outcome::crashed);
  EXPECT_EQ(classify(observed, kFsync, saving()).detail, "SIGSEGV");
  EXPECT_EQ(classify(observed, kFsync, saving()).output, "text");
  observed.end.status = SIGABRT;
  EXPECT_EQ(classify(observed, kFsync, saving()).detail, "SIGABRT");
  observed.end.is_timed_out = true;
  EXPECT_EQ(outcome(observed), Outcome::hung);
  observed.end.fault = "no process can be made";
  EXPECT_EQ(outcome(observed), Outcome::not_run);
}

TEST(FaultOutcome, ReportedIsAProgramThatFailsAfterItsTest) {
  Observed after = passed();
  after.end.status = 29 << 8;
  EXPECT_EQ(outcome(after), Outcome::reported);
  EXPECT_EQ(classify(after, kFsync, saving()).detail, "exit code 29 after the test had passed");
  after.end.status = 23 << 8;
  after.end.output = "==7==ERROR: LeakSanitizer: detected memory leaks\n";
  EXPECT_EQ(outcome(after), Outcome::leaked);
}

TEST(FaultOutcome, ExitedIsAnEndBeforeTheTests) {
  Observed inside;
  inside.end.status = 3 << 8;
  EXPECT_EQ(classify(inside, kFsync, saving()).detail, "exit code 3 inside the test");
  inside.end.status = 0;
  EXPECT_EQ(outcome(inside), Outcome::exited) << "exit(0) inside a test is no success";
  Observed refused;
  refused.end.status = 2 << 8;
  refused.end.output = "a line\nbench: no such option\n";
  EXPECT_EQ(classify(refused, kFsync, saving()).outcome, Outcome::not_run);
  EXPECT_EQ(classify(refused, kFsync, saving()).detail, "bench: no such option");
}

TEST(FaultOutcome, LeaksAreThoseThatTheFailureDoesNotMakeItself) {
  Observed observed = passed();
  observed.descriptors_left = 1;
  observed.left_open = "5 file /tmp/x";
  EXPECT_EQ(outcome(observed, kOpen), Outcome::leaked);
  EXPECT_NE(outcome(observed, kClose), Outcome::leaked) << "a failed close() leaves its descriptor";
  observed.descriptors_left = 2;
  EXPECT_EQ(outcome(observed, kClose), Outcome::leaked);
}

TEST(FaultOutcome, WordsAreReadBack) {
  for (const std::string_view word : kOutcomeWords) EXPECT_EQ(word_of(*outcome_of(word)), word);
  EXPECT_EQ(outcome_of("not-reached"), Outcome::not_reached);
  EXPECT_EQ(outcome_of("ignored"), Outcome::ignored);
  EXPECT_FALSE(outcome_of("fine"));
}

TEST(FaultFramework, IsFoundInTheHelpAndSelectsOneTest) {
  EXPECT_EQ(framework_in("  --gtest_filter=POSITIVE_PATTERNS"), Framework::googletest);
  EXPECT_EQ(framework_in("[doctest] doctest version is \"2.4.9\""), Framework::doctest);
  EXPECT_EQ(framework_in("Catch2 v3.3.1"), Framework::catch2);
  EXPECT_FALSE(framework_in("usage: ls"));
  EXPECT_EQ(selecting(Framework::googletest, "Log.Saves/0"), "--gtest_filter=Log.Saves/0");
  EXPECT_EQ(selecting(Framework::doctest, "saves, then loads"), "--test-case=saves\\, then loads");
  EXPECT_EQ(selecting(Framework::doctest, "store.saves"), "--test-case=store.saves,saves");
  EXPECT_EQ(selecting(Framework::catch2, "saves [all]"), "\"saves \\[all]\"");
}

class FaultState : public testing::Test {
 protected:
  FaultState() {
    std::string name = testing::TempDir() + "faults.XXXXXX";
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ / "sweep.jsonl";
  }
  ~FaultState() override { fs::remove_all(folder_); }

  fs::path folder_;
  fs::path path_;
};

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

const SweepIdentity kIdentity = {{"/bin/tests", "--fast"}, "7 bytes", "calls="};

Done crash() {
  Done done{{0, "write", 3, "EIO", "store.cc:9 save"}, {}};
  done.result = {Outcome::crashed, "SIGSEGV", "store.cc:9 save", 12, 1, "a \x1b[31m\xff text\n"};
  return done;
}

TEST_F(FaultState, ComesBackWithoutTheLineThatWasCut) {
  {
    SweepState empty;
    StateFile file;
    ASSERT_EQ(file.open(path_, empty), "");
    ASSERT_EQ(file.begin(kIdentity), "");
    ASSERT_EQ(file.add(saving()), "");
    ASSERT_EQ(file.end_learning(Framework::catch2), "");
    ASSERT_EQ(file.add(PlanSize{5, 2, 3, {{"getpid", 1}}}), "");
    ASSERT_EQ(file.add(4, crash()), "");
  }
  std::ofstream(path_, std::ios::app) << R"({"failure":5,"test":0,"sys)";
  SweepState state;
  {
    StateFile file;
    ASSERT_EQ(file.open(path_, state), "");
    EXPECT_EQ(file.add(6, crash()), "");
  }
  EXPECT_EQ(state.identity, kIdentity);
  EXPECT_TRUE(state.has_learned);
  EXPECT_EQ(state.framework, Framework::catch2);
  ASSERT_EQ(state.tests.size(), 1U);
  EXPECT_EQ(state.tests[0].places.size(), 4U);
  EXPECT_EQ(state.plan, (PlanSize{5, 2, 3, {{"getpid", 1}}}));
  ASSERT_EQ(state.done.size(), 1U);
  EXPECT_EQ(state.done.at(4).failure, crash().failure);
  EXPECT_EQ(state.done.at(4).result.detail, "SIGSEGV");
  SweepState again;
  EXPECT_EQ(load_state(path_, again), "");
  EXPECT_EQ(again.done.size(), 2U) << "the cut line is gone";
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FaultState, RefusesOtherFilesAndASecondWriter) {
  SweepState state;
  StateFile first;
  ASSERT_EQ(first.open(path_, state), "");
  StateFile second;
  EXPECT_NE(second.open(path_, state).find("another sweep writes to it"), std::string::npos);
  const fs::path other = folder_ / "rows.csv";
  std::ofstream(other) << "schema_version,run_id\n";
  StateFile third;
  EXPECT_NE(third.open(other, state).find("line 1 is no line of a sweep"), std::string::npos);
  EXPECT_EQ(text_of(other), "schema_version,run_id\n");
  fs::create_symlink(path_, folder_ / "link");
  StateFile fourth;
  EXPECT_NE(fourth.open(folder_ / "link", state), "");
}

ContainedCommand shell(const std::string& script) {
  ContainedCommand command;
  command.arguments = {"/bin/sh", "-c", script};
  command.limit = 60s;
  return command;
}

ContainedEnd end_of(ContainedRuns& runs, const ContainedCommand& command) {
  const int number = runs.start(command);
  for (;;) {
    if (auto ended = runs.wait(60s)) {
      EXPECT_EQ(ended->first, number);
      return std::move(ended->second);
    }
  }
}

TEST(ContainedRun, HasAFolderOfItsOwnAndLeavesNothing) {
  fs::path folder;
  {
    ContainedRuns runs;
    ASSERT_EQ(runs.fault(), "");
    folder = runs.folder();
    const ContainedEnd end = end_of(runs, shell("echo x >made; mkdir $TMPDIR/a; chmod 0 $TMPDIR/a; pwd; exit 7"));
    EXPECT_EQ(end.fault, "");
    EXPECT_EQ(WEXITSTATUS(end.status), 7);
    EXPECT_EQ(end.output.find(folder.string()), 0U) << end.output;
    EXPECT_TRUE(fs::is_empty(folder));
    EXPECT_FALSE(fs::exists("made"));
  }
  EXPECT_FALSE(fs::exists(folder));
}

TEST(ContainedRun, SeesTheFilesOfItsWorkingFolder) {
  const std::string name = "contained_run_test_file";
  std::ofstream(name) << "seen\n";
  ContainedRuns runs;
  ContainedCommand command = shell("cat " + name);
  for (const WorkingFolder folder : {WorkingFolder::links, WorkingFolder::here}) {
    command.folder = folder;
    EXPECT_EQ(end_of(runs, command).output, "seen\n");
  }
  fs::remove(name);
}

TEST(ContainedRun, MayHaveATmpOfItsOwn) {
  ContainedRuns runs;
  ContainedCommand command = shell("echo x >/tmp/contained_run_test_own && ls /tmp $TMPDIR");
  command.has_own_tmp = true;
  const ContainedEnd end = end_of(runs, command);
  if (end.output.find("--private-tmp: unshare") != std::string::npos) GTEST_SKIP() << end.output;
  EXPECT_EQ(WEXITSTATUS(end.status), 0) << end.output;
  EXPECT_NE(end.output.find("contained_run_test_own"), std::string::npos) << end.output;
  EXPECT_FALSE(fs::exists("/tmp/contained_run_test_own"));
  EXPECT_TRUE(fs::is_empty(runs.folder()));
}

/// The lines of a run's output, as process ids.
std::vector<pid_t> processes_of(const ContainedEnd& end) {
  std::vector<pid_t> processes;
  std::istringstream in(end.output);
  for (pid_t process = 0; in >> process;) processes.push_back(process);
  return processes;
}

TEST(ContainedRun, KillsProcessesThatLeftTheSession) {
  ContainedRuns runs;
  const ContainedEnd end = end_of(runs, shell("setsid sleep 1000 & echo $!; exec 1>&- 2>&-; exit 0"));
  EXPECT_EQ(end.processes_left, 1U);
  for (const pid_t process : processes_of(end)) EXPECT_NE(::kill(process, 0), 0) << process;
  EXPECT_EQ(processes_of(end).size(), 1U);
}

TEST(ContainedRun, EndsAtItsTimeLimitWithAllItsProcesses) {
  ContainedRuns runs;
  ContainedCommand command = shell("trap '' TERM INT HUP; (sleep 1000 & echo $!; wait) & echo $!; wait");
  command.limit = 300ms;
  const ContainedEnd end = end_of(runs, command);
  EXPECT_TRUE(end.is_timed_out);
  for (const pid_t process : processes_of(end)) EXPECT_NE(::kill(process, 0), 0) << process;
}

TEST(ContainedRun, KeepsTheBeginningAndTheEndOfALongOutput) {
  ContainedRuns runs;
  const ContainedEnd end = end_of(runs, shell("echo begin; head -c 1000000 /dev/zero | tr '\\0' x; echo end"));
  EXPECT_LE(end.output.size(), kMostOutput + 100);
  EXPECT_EQ(end.output.rfind("begin\n", 0), 0U);
  EXPECT_NE(end.output.find("bytes left out"), std::string::npos);
  EXPECT_EQ(end.output.substr(end.output.size() - 4), "end\n");
}

TEST(ContainedRun, SaysWhyACommandCannotRun) {
  ContainedRuns runs;
  ContainedCommand command;
  command.arguments = {"/no/such/program"};
  command.limit = 60s;
  const ContainedEnd end = end_of(runs, command);
  EXPECT_EQ(WEXITSTATUS(end.status), 127);
  EXPECT_NE(end.output.find("/no/such/program: No such file"), std::string::npos);
}

TEST(ContainedRun, LeavesNothingIfItsOwnerIsKilled) {
  int report[2];
  ASSERT_EQ(::pipe2(report, O_CLOEXEC), 0);
  const pid_t owner = ::fork();
  ASSERT_GE(owner, 0);
  if (owner == 0) {
    ContainedRuns runs;
    // The run writes to the pipe by its number when it is up.
    ContainedCommand command = shell("setsid sleep 1000 & echo \"$! $PWD\" >/proc/$OWNER/fd/$PIPE; exec sleep 1000");
    command.variables = {"OWNER=" + std::to_string(::getpid()), "PIPE=" + std::to_string(report[1])};
    runs.start(command);
    for (;;) ::pause();
  }
  ::close(report[1]);
  char buffer[4096] = {};
  ASSERT_GT(::read(report[0], buffer, sizeof buffer - 1), 0);
  std::istringstream in(buffer);
  pid_t sleeper = 0;
  std::string folder;
  in >> sleeper >> folder;
  ASSERT_EQ(::kill(owner, SIGKILL), 0);
  ::waitpid(owner, nullptr, 0);
  // Its keeper and its janitor hold the other end of this pipe until they have removed everything.
  while (::read(report[0], buffer, sizeof buffer) > 0) {
  }
  EXPECT_NE(::kill(sleeper, 0), 0);
  EXPECT_FALSE(fs::exists(fs::path(folder).parent_path().parent_path())) << folder;
}

}  // namespace
}  // namespace syscost::bench::faults
