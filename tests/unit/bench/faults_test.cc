// SPDX-License-Identifier: MIT
//
// Sweeps of failures: the plan, the outcomes, and the frameworks.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <set>
#include <string>

#include "faults/learning.h"
#include "faults/outcome.h"
#include "faults/plan.h"
#include "syscost/call_errors.h"

namespace syscost::bench::faults {
namespace {

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

TEST(FaultWords, SaysItInTheWordsOfThisCommand) {
  EXPECT_EQ(
      as_own_words("syscost: bad value of --filter: 'fsnyc' is not a known syscall. Did you mean 'fsync'?\n  fix: x\n"),
      "--calls: 'fsnyc' is not a known syscall. Did you mean 'fsync'?");
  EXPECT_EQ(
      as_own_words("syscost: bad value of --inject: \"error=EFOO\" names no errno; write for example write:EIO\n"),
      "--errnos: \"EFOO\" names no errno; `bench faults --errors` prints the usual ones");
  EXPECT_EQ(as_own_words("bench: another fault"), "bench: another fault");
}

// The result of a run of saving() whose fsync failed.
Observed passed() {
  Observed observed;
  observed.has_row = true;
  observed.verdict = "passed";
  observed.is_hit = true;
  observed.entries = saving().entries;
  observed.end.output = "text";
  observed.end.report.status = 0;
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
  observed.end.report.status = 1 << 8;
  EXPECT_EQ(outcome(observed), Outcome::reported);
}

TEST(FaultOutcome, SignalsAndTimeLimitsComeFirst) {
  Observed observed = passed();
  observed.end.report.status = SIGSEGV;
  EXPECT_EQ(outcome(observed), Outcome::crashed);
  EXPECT_EQ(classify(observed, kFsync, saving()).detail, "SIGSEGV");
  EXPECT_EQ(classify(observed, kFsync, saving()).output, "text");
  observed.end.report.status = SIGABRT;
  EXPECT_EQ(classify(observed, kFsync, saving()).detail, "SIGABRT");
  observed.end.is_timed_out = true;
  EXPECT_EQ(outcome(observed), Outcome::hung);
  observed.end.fault = "no process can be made";
  EXPECT_EQ(outcome(observed), Outcome::not_run);
}

TEST(FaultOutcome, ASignalThatWasSentIsNamedAsOne) {
  Observed observed = passed();
  observed.end.report.status = SIGKILL;
  EXPECT_EQ(classify(observed, kFsync, saving()).detail,
            "SIGKILL, which a process sent, or the kernel for want of memory");
}

TEST(FaultOutcome, ACodeBeyond128IsNoSignal) {
  Observed observed = passed();
  observed.end.report.status = 137 << 8;
  observed.end.status = 137 << 8;
  EXPECT_EQ(outcome(observed), Outcome::reported);
  EXPECT_EQ(classify(observed, kFsync, saving()).detail, "exit code 137 after the test had passed");
}

TEST(FaultOutcome, ReportedIsAProgramThatFailsAfterItsTest) {
  Observed after = passed();
  after.end.report.status = 29 << 8;
  EXPECT_EQ(outcome(after), Outcome::reported);
  EXPECT_EQ(classify(after, kFsync, saving()).detail, "exit code 29 after the test had passed");
  after.end.report.status = 23 << 8;
  after.end.has_leak_report = true;
  EXPECT_EQ(outcome(after), Outcome::leaked);
}

TEST(FaultOutcome, WhatATestPrintsDecidesNothing) {
  Observed after = passed();
  after.end.report.status = 1 << 8;
  after.end.output = "bench: no\nsyscost: no\n==7==ERROR: LeakSanitizer: detected memory leaks\n";
  EXPECT_EQ(outcome(after), Outcome::reported);
  after.has_row = false;
  after.end.report.status = 2 << 8;
  EXPECT_EQ(classify(after, kFsync, saving()).detail, "exit code 2 inside the test");
}

TEST(FaultOutcome, ExitedIsAnEndBeforeTheTests) {
  Observed inside;
  inside.end.report.status = 3 << 8;
  EXPECT_EQ(classify(inside, kFsync, saving()).detail, "exit code 3 inside the test");
  inside.end.report.status = 0;
  inside.end.status = 1 << 8;  // as syscost-run ends if it measured nothing
  EXPECT_EQ(classify(inside, kFsync, saving()).detail, "exit code 0 inside the test");
  EXPECT_EQ(outcome(inside), Outcome::exited) << "exit(0) inside a test is no success";
}

TEST(FaultOutcome, NotRunIsARefusalOrARunnerThatWasKilled) {
  Observed refused;
  refused.end.report = {2 << 8, "dispatch cannot be used here"};
  EXPECT_EQ(outcome(refused), Outcome::not_run);
  EXPECT_EQ(classify(refused, kFsync, saving()).detail, "dispatch cannot be used here");
  Observed other = passed();
  other.end.report.refusal = "a program below it was refused";
  EXPECT_NE(outcome(other), Outcome::not_run) << "the test has its row";
  Observed killed;
  killed.end.status = SIGKILL;
  EXPECT_EQ(outcome(killed), Outcome::not_run);
  EXPECT_EQ(classify(killed, kFsync, saving()).detail,
            "syscost-run was ended by SIGKILL, and did not say how the program ended");
}

TEST(FaultOutcome, AChildThatCrashedIsTold) {
  Observed observed = passed();
  ++observed.entries["fsync"];
  observed.end.child_signals = {{SIGABRT, 1}, {SIGTERM, 5}};
  const Result told = classify(observed, kFsync, saving());
  EXPECT_EQ(told.outcome, Outcome::survived);
  EXPECT_EQ(told.child, "SIGABRT");
  EXPECT_EQ(told.detail, "a child of the test crashed: SIGABRT");
  EXPECT_TRUE(needs_a_look(told));
  EXPECT_EQ(told.output, "text");
  LearnedTest dies_always = saving();  // a death test
  dies_always.child_signals = {{SIGABRT, 1}};
  EXPECT_EQ(classify(observed, kFsync, dies_always).child, "");
}

TEST(FaultOutcome, EndReportsAreReadLineByLine) {
  const EndReport report = read_end_report("refused no room\nlater words\ncommand 512\nrefused cut");
  EXPECT_EQ(report.status, 512);
  EXPECT_EQ(report.refusal, "no room");
  EXPECT_FALSE(read_end_report("command 12x\ncommand 1").status);
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
  EXPECT_EQ(selecting(Framework::googletest, "Log.a-b:c"), "--gtest_filter=Log.a?b?c");
  EXPECT_TRUE(may_select_others(Framework::googletest, "Log.a-b"));
  EXPECT_FALSE(may_select_others(Framework::googletest, "Log.Saves/0"));
  EXPECT_EQ(selecting(Framework::doctest, "saves, then loads"), "--test-case=saves\\, then loads");
  EXPECT_EQ(selecting(Framework::doctest, "store.saves"), "--test-case=store.saves,saves");
  EXPECT_EQ(selecting(Framework::catch2, "saves [all]"), "\"saves \\[all]\"");
  // The second test of a name, or a test of that name.
  EXPECT_EQ(selecting(Framework::googletest, "Log.Saves#2"), "--gtest_filter=Log.Saves#2:Log.Saves");
  EXPECT_EQ(selecting(Framework::doctest, "saves#2"), "--test-case=saves#2,saves");
  EXPECT_EQ(selecting(Framework::catch2, "saves#2"), "\"saves#2\",\"saves\"");
  EXPECT_EQ(selecting(Framework::catch2, "saves #a"), "\"saves #a\"");
}

}  // namespace
}  // namespace syscost::bench::faults
