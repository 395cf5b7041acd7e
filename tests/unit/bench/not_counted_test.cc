// SPDX-License-Identifier: MIT
//
// Calls that were lost, or not counted, decide nothing: no child, set-up, step or finding. And what one process did is
// not said of another one with its id.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench_on_files.h"
#include "csv_text.h"

namespace syscost::bench {
namespace {

using testing::Cells;

class NotCounted : public testing::BenchOnFiles {};

/// A window that writes so often. `lost` "": it was not counted.
std::string window_with_writes(int calls, Cells cells = {}, const std::string& lost = "0") {
  Cells totals = cells;
  totals.insert({{"total_calls", std::to_string(calls)}, {"total_errors", "0"}, {"lost", lost}});
  for (const char* of_tests : {"outcome", "descriptors_left", "threads_left", "children_left"}) cells.erase(of_tests);
  cells.insert({{"calls", std::to_string(calls)}, {"errors", "0"}});
  return testing::test_row(totals) + (calls == 0 ? "" : testing::syscall_row(cells));
}

std::string child(int calls) {
  return window_with_writes(calls, {{"kind", "process"}, {"window", "sh"}, {"outcome", ""}}, "");
}

Cells of_run(int day) {
  return {{"run_id", "r" + std::to_string(day)}, {"started_at", "2026-11-" + std::to_string(day) + "T00:00:00Z"}};
}

TEST_F(NotCounted, ChildrenOfAWindowThatLostEventsHaveNoVerdict) {
  const std::string whole = file("whole.csv", window_with_writes(3) + child(100));
  const std::string lossy = file("lossy.csv", window_with_writes(3, {}, "10") + child(90));
  EXPECT_NE(bench({"compare", lossy, whole}), 1) << all();
  EXPECT_FALSE(has("regressed")) << all();
  EXPECT_NE(bench({"compare", whole, lossy, "--all"}), 1) << all();
  EXPECT_FALSE(has("improved")) << all();
  EXPECT_EQ(bench({"compare", file("grown.csv", window_with_writes(3) + child(101)), whole}), 0) << all();
  EXPECT_EQ(bench({"compare", whole, folder_.file("grown.csv")}), 1) << "a child of a whole window has: " << all();
}

TEST_F(NotCounted, WhereNoTestHasAVerdictThereIsNoAnswer) {
  const std::string passes = file("passes.csv", window_with_writes(3));
  const std::string fails = file("fails.csv", window_with_writes(9, {{"outcome", "failed"}}));
  const std::string skips = file("skips.csv", window_with_writes(0, {{"outcome", "skipped"}}));
  EXPECT_EQ(bench({"compare", fails, fails + "/../fails.csv"}), 2) << "the same file";
  EXPECT_EQ(
      bench({"compare", fails, file("again.csv", window_with_writes(9, {{"outcome", "failed"}, {"run_id", "r2"}}))}),
      3);
  EXPECT_EQ(bench({"compare", passes, fails, "--allow", "failed"}), 3) << all();
  EXPECT_EQ(bench({"compare", passes, skips, "--allow", "skipped"}), 3) << all();
  const std::string baseline = folder_.file("tests.baseline");
  ASSERT_EQ(bench({"baseline", "update", fails, "--output", baseline, "--allow-failed"}), 0) << all();
  EXPECT_EQ(bench({"check", folder_.file("again.csv"), "--baseline", baseline}), 3) << all();
}

TEST_F(NotCounted, ASetUpWhoseTestsWereNotCountedIsNoSetUpWithoutCalls) {
  const Cells set_up = {{"kind", "suite"}, {"test", "Suite"}, {"window", "set-up"}, {"outcome", ""}};
  const std::string with = file("with.csv", window_with_writes(3) + window_with_writes(40, set_up));
  const std::string uncounted = testing::test_row({{"total_calls", ""}, {"total_errors", ""}, {"lost", ""}});
  EXPECT_NE(bench({"compare", file("uncounted.csv", uncounted), with}), 1) << all();
  EXPECT_EQ(bench({"compare", file("quiet.csv", window_with_writes(3)), with}), 1)
      << "0 calls were counted there: " << all();
  Cells tear_down = set_up;
  tear_down["window"] = "tear-down";
  const std::string closes = file("closes.csv", window_with_writes(3) + window_with_writes(40, tear_down));
  const std::string crashed = window_with_writes(3) + testing::run_row({{"window", "begin"}});
  EXPECT_NE(bench({"compare", file("crashed.csv", crashed), closes}), 1) << "it ended before its tear-down: " << all();
}

TEST_F(NotCounted, AProcessOfAnotherHostIsNoLaterAttempt) {
  const auto of = [](const std::string& host, int calls, const std::string& outcome, const std::string& start) {
    return window_with_writes(calls,
                              {{"host", host}, {"outcome", outcome}, {"started_at", "2026-11-20T" + start + ":00Z"}});
  };
  const std::string old_run = file("old.csv", window_with_writes(3));
  const std::string one_id =
      of("h1", 3, "failed", "01:00") + of("h2", 90, "passed", "01:00") + of("h1", 3, "passed", "02:00");
  bench({"compare", old_run, file("hosts.csv", one_id), "--allow", "retried", "--all"});
  EXPECT_TRUE(has("3..90 write in NEW")) << all();
  const std::string failed_later = of("h1", 3, "passed", "01:00") + of("h1", 3, "failed", "02:00");
  EXPECT_EQ(bench({"compare", old_run, file("later.csv", failed_later), "--allow", "retried"}), 1) << all();
  const std::string not_sorted = of("h1", 3, "passed", "02:00") + of("h1", 9, "failed", "01:00");
  EXPECT_EQ(bench({"compare", old_run, file("first.csv", not_sorted), "--allow", "retried"}), 0) << all();
}

TEST_F(NotCounted, LeaksOfAnotherHostAreNotLeftOut) {
  const auto leaves = [](const std::string& host, const std::string& descriptors) {
    return testing::test_row({{"host", host},
                              {"pid", "1"},
                              {"total_calls", "0"},
                              {"descriptors_left", descriptors},
                              {"threads_left", "0"},
                              {"children_left", "0"}});
  };
  std::ofstream(folder_.file("leak.toml")) << "[[budget]]\ntest = \"*\"\nmeasure = \"descriptors-left\"\nmax = 0\n";
  EXPECT_EQ(bench({"check", file("leaks.csv", leaves("h1", "0") + leaves("h2", "5")), "--budgets",
                   folder_.file("leak.toml")}),
            1)
      << all();
}

TEST_F(NotCounted, ARunInAHistoryHidesNoStepOfOthers) {
  const auto history = [&](const std::string& name, const std::string& odd, int place) {
    std::string rows;
    for (int i = 0; i < 8; ++i) rows += i == place ? odd : window_with_writes(i < 5 ? 3 : 90, of_run(10 + i));
    return file(name + std::to_string(place) + ".csv", rows);
  };
  for (const int place : {0, 5}) {
    const Cells run = of_run(10 + place);
    Cells filtered = run;
    filtered["filter"] = "%network";
    Cells failed = run;
    failed["outcome"] = "failed";
    Cells uncounted = run;
    uncounted.insert({{"total_calls", ""}, {"total_errors", ""}, {"lost", ""}});
    for (const auto& [name, odd] :
         std::vector<std::pair<std::string, std::string>>{{"lost", window_with_writes(3, run, "7")},
                                                          {"failed", window_with_writes(3, failed)},
                                                          {"filter", window_with_writes(0, filtered)},
                                                          {"no", testing::test_row(uncounted)}}) {
      const std::string path = history(name, odd, place);
      EXPECT_EQ(bench({"log", path}), 0) << all();
      EXPECT_TRUE(has("+87 write")) << name << place << all();
      EXPECT_EQ(bench({"log", path, "Suite.Test"}), 0) << all();
      EXPECT_TRUE(has("1 step")) << name << place << all();
    }
  }
}

TEST_F(NotCounted, RulesThatWereCheckedNowhereAreNotKept) {
  EXPECT_EQ(bench({"findings", file("one.csv", window_with_writes(3)), "--fail-on", "any"}), 0) << all();
  EXPECT_EQ(bench({"findings", folder_.file("one.csv"), "--fail-on", "tiny-writes", "--ignore", "tiny-writes"}), 2);
  const std::string filtered = window_with_writes(0, {{"filter", "%network"}});
  const std::string lost = window_with_writes(0, {{"test", "Suite.Other"}}, "3");
  EXPECT_EQ(bench({"findings", file("two.csv", filtered + lost), "--fail-on", "tiny-writes"}), 3) << all();
  const std::string scope = window_with_writes(3, {{"kind", "scope"}, {"window", "flush"}, {"outcome", ""}});
  EXPECT_EQ(bench({"findings", file("scope.csv", scope), "--fail-on", "any"}), 3) << all();
}

TEST_F(NotCounted, ARunWithoutATestIsAmongTheRuns) {
  const Cells crashed = {{"run_id", "crashed"}, {"started_at", "2026-11-30T00:00:00Z"}, {"window", "begin"}};
  EXPECT_EQ(bench({"runs", file("runs.csv", window_with_writes(3, of_run(10)) + testing::run_row(crashed))}), 0)
      << all();
  EXPECT_TRUE(has("crashed")) << all();
}

TEST_F(NotCounted, ASecondWindowOfANameIsNewInAComparisonWithABaseline) {
  const auto scope = [](const std::string& parent, int calls) {
    return window_with_writes(calls, {{"kind", "scope"}, {"window", "flush"}, {"parent", parent}, {"outcome", ""}});
  };
  const std::string baseline = folder_.file("tests.baseline");
  ASSERT_EQ(bench({"baseline", "update", file("one.csv", window_with_writes(3) + scope("a", 3)), "--output", baseline}),
            0)
      << all();
  bench({"check", file("two.csv", window_with_writes(3) + scope("a", 3) + scope("b", 500)), "--baseline", baseline,
         "--all"});
  EXPECT_TRUE(has("500")) << all();
}

TEST_F(NotCounted, StatisticsOfAllTestsSayWhichAreLowerBounds) {
  const std::string lossy = file("lossy.csv", window_with_writes(3, {}, "10") + window_with_writes(3, {{"test", "B"}}));
  const std::string whole = file("whole.csv", window_with_writes(3));
  const std::string warning = "missing in 1 test: counts are lower bounds";
  for (const char* format : {"text", "md", "csv"}) {
    EXPECT_EQ(bench({"summary", "--stats-extended", lossy, "--format", format}), 0) << all();
    EXPECT_NE(all().find(warning), std::string::npos) << all();
    EXPECT_EQ(bench({"summary", "--stats-extended", whole, "--format", format}), 0) << all();
    EXPECT_EQ(all().find("lower bounds"), std::string::npos) << all();
  }
  EXPECT_EQ(bench({"summary", "--stats-extended", lossy, "--format", "json"}), 0) << all();
  EXPECT_TRUE(has("\"lossy_tests\": 1")) << all();
}

TEST_F(NotCounted, EntriesAreNotCalledCalls) {
  const auto entries = [](const std::string& test) {
    return testing::test_row({{"test", test}, {"total_calls", ""}, {"total_entries", "2"}, {"lost", "0"}}) +
           testing::syscall_row({{"test", test}, {"calls", ""}, {"entries", "2"}});
  };
  const std::string only = entries("A") + entries("B");
  EXPECT_EQ(bench({"summary", file("entries.csv", only)}), 0) << all();
  EXPECT_TRUE(has("entries")) << all();
  EXPECT_FALSE(has("calls")) << all();
  EXPECT_EQ(bench({"summary", file("both.csv", only + window_with_writes(3, {{"test", "C"}}))}), 0) << all();
  EXPECT_TRUE(has("calls or entries")) << all();
}

TEST_F(NotCounted, ACallThatOneFilterLeftOutIsNotZeroThere) {
  const auto run = [&](const std::string& filter) {
    return file("run.csv", window_with_writes(3, {{"filter", "write"}}) +
                               window_with_writes(5, {{"filter", filter}, {"repetition", "1"}, {"syscall", "read"}}));
  };
  EXPECT_EQ(bench({"summary", run("read"), "--format", "json"}), 0) << all();
  EXPECT_FALSE(has("\"median\": 2.5")) << all();
  EXPECT_EQ(bench({"summary", run("write"), "--format", "json"}), 0) << all();
  EXPECT_TRUE(has("\"median\": 2.5")) << all();
}

TEST_F(NotCounted, TestsThatTheBaselineLetsOffAreSkippedInJunit) {
  const Cells failed = {{"test", "B"}, {"outcome", "failed"}};
  const std::string run = file("run.csv", window_with_writes(3) + window_with_writes(9, failed));
  const std::string baseline = folder_.file("tests.baseline");
  ASSERT_EQ(bench({"baseline", "update", run, "--output", baseline, "--allow-failed"}), 0) << all();
  EXPECT_EQ(bench({"check", run, "--baseline", baseline, "--format", "junit"}), 0) << all();
  EXPECT_TRUE(has("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\"")) << all();
}

TEST_F(NotCounted, ABaselineTakesNoRunWithAnotherFilter) {
  const std::string whole = file("whole.csv", window_with_writes(3));
  const std::string part = file("part.csv", window_with_writes(0, {{"filter", "read"}}));
  const std::string baseline = folder_.file("tests.baseline");
  ASSERT_EQ(bench({"baseline", "update", whole, "--output", baseline}), 0) << all();
  EXPECT_EQ(bench({"check", part, "--baseline", baseline, "--update"}), 2) << all();
  EXPECT_EQ(bench({"check", part, "--baseline", baseline, "--accept", "Suite.Test"}), 2) << all();
  EXPECT_NE(all().find("the filter is read, and that of the baseline is none"), std::string::npos) << all();
  EXPECT_EQ(bench({"check", whole, "--baseline", baseline}), 0) << all();
}

TEST_F(NotCounted, AGatedTimeThatCannotBeRedIsNoAnswer) {
  const std::string one = file("one.csv", window_with_writes(3));
  const std::string other = file("other.csv", window_with_writes(3, of_run(11)));
  EXPECT_EQ(bench({"compare", one, other}), 0) << all();
  EXPECT_EQ(bench({"compare", one, other, "--gate", "wall"}), 3) << all();
}

TEST_F(NotCounted, TheTimesOfTestsThatAllFailedAreNoAnswer) {
  const std::string failed = testing::test_row({{"outcome", "failed"}, {"wall_ns", "1000"}});
  const std::string one = file("one.csv", failed);
  EXPECT_EQ(bench({"compare", one, file("two.csv", failed), "--gate", "time"}), 3) << all();
  EXPECT_FALSE(has("exit code 3: \n")) << all();
}

}  // namespace
}  // namespace syscost::bench
