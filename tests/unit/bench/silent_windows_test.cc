// SPDX-License-Identifier: MIT
//
// A set-up or tear-down without a call has no row. Of a process that has none it is 0 calls, not unknown.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "bench_on_files.h"
#include "csv_text.h"

namespace syscost::bench {
namespace {

using testing::Cells;

Cells with(Cells cells, const Cells& more) {
  for (const auto& [column, text] : more) cells[column] = text;
  return cells;
}

/// A window that writes so often; none has a row if it is silent.
std::string window(int calls, const Cells& cells, bool may_be_silent = true) {
  if (calls == 0 && may_be_silent) return {};
  const bool is_test = cells.at("kind") == "test";
  Cells totals = with(cells, {{"total_calls", std::to_string(calls)}, {"total_errors", "0"}});
  totals["outcome"] = is_test ? "passed" : "";

  const Cells of_calls = with(cells, {{"calls", std::to_string(calls)}});
  return testing::test_row(totals) + (calls == 0 ? "" : testing::syscall_row(of_calls));
}

/// The rows of a process: one of Suite.Test, and a set-up that writes `of_set_up` times.
std::string process(int of_set_up, const Cells& of_run = {}, const char* window_of_suite = "set-up", bool ends = true,
                    const std::string& calls_of_test = "1") {
  std::string rows = testing::run_row(with(of_run, {{"window", "begin"}}));
  rows += window(of_set_up, with(of_run, {{"kind", "suite"}, {"test", "Suite"}, {"window", window_of_suite}}));
  rows += testing::test_row(with(of_run, {{"total_calls", calls_of_test}}));
  if (calls_of_test == "1") rows += testing::syscall_row(of_run);
  return rows + (ends ? testing::run_row(with(of_run, {{"window", "end"}, {"outcome", "passed"}})) : "");
}

Cells of_day(int day) {
  return {{"run_id", "r" + std::to_string(day)}, {"started_at", "2026-11-" + std::to_string(day) + "T00:00:00Z"}};
}

class SilentWindows : public testing::BenchOnFiles {};

Cells of_process(int pid) {
  return {{"pid", std::to_string(pid)}};
}

TEST_F(SilentWindows, OfAProcessWithoutARowAreZero) {
  const std::string one = process(5) + process(0, of_process(8)) + process(0, of_process(9));
  const std::string each = process(5) + process(5, of_process(8)) + process(5, of_process(9));
  EXPECT_EQ(bench({"compare", file("one.csv", one), file("each.csv", each), "--all"}), 0) << all();
  EXPECT_TRUE(has("0 [0..5] -> 5")) << all();
}

TEST_F(SilentWindows, AreUnknownWhereTheProcessDidNotCountOrEnd) {
  const auto repetitions = [&](const std::string& rows) {
    bench({"summary", file("run.csv", rows), "--details", "--format", "json"});
    return (has("\"repetitions\": 2") ? 2 : 0) + (has("\"repetitions\": 1") ? 1 : 0);
  };
  EXPECT_EQ(repetitions(process(5) + process(0, of_process(8))), 2) << "of the test and of its set-up: " << all();
  EXPECT_EQ(repetitions(process(5) + process(0, of_process(8), "set-up", false)), 3) << "it crashed: " << all();
  EXPECT_EQ(repetitions(process(5) + process(0, of_process(8), "set-up", true, "")), 3) << "not counted: " << all();
}

/// What is made once in a process is compared as before.
TEST_F(SilentWindows, OfOtherRepetitionsHideNoRegressionOfTheFirst) {
  const Cells second = {{"repetition", "1"}};
  const auto rows = [&](int calls) {
    return process(calls) + window(1, with(second, {{"kind", "test"}, {"test", "Suite.Test"}}));
  };
  EXPECT_EQ(bench({"compare", file("two.csv", rows(2)), file("six.csv", rows(6))}), 1) << all();
}

TEST_F(SilentWindows, OfSomeRunsOfABaselineMakeARange) {
  std::string runs;
  for (int day = 10; day < 15; ++day) runs += process(day == 14 ? 3 : 0, of_day(day));
  const std::string baseline = folder_.file("tests.baseline");
  ASSERT_EQ(bench({"baseline", "update", file("runs.csv", runs), "--all-runs", "--output", baseline}), 0) << all();
  EXPECT_EQ(bench({"check", file("three.csv", process(3, of_day(20))), "--baseline", baseline}), 0) << all();
  std::ifstream written(baseline);
  EXPECT_NE(std::string(std::istreambuf_iterator<char>(written), {}).find("0..0..3"), std::string::npos);
}

TEST_F(SilentWindows, AreStepsInTheLogOfOneWindow) {
  std::string runs;
  for (const auto& [day, calls] : std::vector<std::pair<int, int>>{{10, 1}, {11, 0}, {12, 1}, {13, 3}}) {
    runs += process(calls, of_day(day));
  }
  EXPECT_EQ(bench({"log", "suite Suite, set-up", file("runs.csv", runs)}), 0) << all();
  EXPECT_FALSE(has("not run")) << all();
  EXPECT_TRUE(has("3 steps")) << all();
}

TEST_F(SilentWindows, OfAProcessThatCouldNotCountThemHaveARow) {
  const Cells tear_down = {{"kind", "suite"}, {"test", "Suite"}, {"window", "tear-down"}};
  const std::string uncounted = testing::test_row(with(tear_down, {{"total_calls", ""}, {"outcome", ""}}));
  const std::string old_rows = file("old.csv", process(5, {}, "tear-down"));
  const std::string new_rows = file("new.csv", process(0) + uncounted);
  EXPECT_EQ(bench({"compare", old_rows, new_rows, "--all"}), 0) << all();
  EXPECT_FALSE(has("5 -> 0")) << all();
  const std::string others = process(5, of_process(8), "tear-down") + process(0, of_process(9));
  bench({"summary", file("all.csv", uncounted + process(0) + others)});
  EXPECT_TRUE(has("1 of 3 repetitions were not counted")) << "the third one made 0 calls: " << all();
}

TEST_F(SilentWindows, WaitForEachTestOfTheirSuite) {
  const std::string uncounted = testing::test_row({{"test", "Suite.Void"}, {"total_calls", ""}});
  EXPECT_EQ(bench({"compare", file("void.csv", process(0) + uncounted), file("five.csv", process(5) + uncounted)}), 0)
      << all();
  EXPECT_EQ(bench({"compare", file("zero.csv", process(0)), folder_.file("five.csv")}), 1) << all();
  // An environment is of all suites.
  const std::string rows = process(0) + testing::test_row({{"test", "Other.Void"}, {"total_calls", ""}}) +
                           window(7, with(of_process(8), {{"kind", "environment"}, {"test", ""}})) +
                           process(0, of_process(8));
  bench({"summary", file("environment.csv", rows)});
  EXPECT_FALSE(has("[0..7]")) << all();
}

TEST_F(SilentWindows, DoNotDependOnTheOrderOfRows) {
  const std::string begin = testing::run_row({{"window", "begin"}});
  const std::string end = testing::run_row({{"window", "end"}, {"outcome", "passed"}});
  const std::string turned = begin + testing::syscall_row() + testing::test_row({{"total_calls", "1"}}) + end;
  bench({"summary", file("turned.csv", process(5, of_process(8)) + turned)});
  EXPECT_TRUE(has("[0..5]")) << all();
  const std::string begun_again = process(0) + begin;
  bench({"summary", file("again.csv", process(5, of_process(8)) + begun_again)});
  EXPECT_FALSE(has("[0..5]")) << "its end belongs to the program before: " << all();
}

TEST_F(SilentWindows, HaveAsManyRepetitionsAsTheirTests) {
  std::string old_runs;
  std::string new_runs;
  for (int day = 10; day < 20; ++day) {
    old_runs += process(0, of_day(day));
    new_runs += process(5 + day % 3, of_day(day));
  }
  bench({"compare", file("old.csv", old_runs), file("new.csv", new_runs), "--all-runs"});
  EXPECT_TRUE(has("regressed")) << all();
  EXPECT_FALSE(has("too few")) << all();
}

TEST_F(SilentWindows, OfAnotherProgramAreNone) {
  const std::string old_rows = file("old.csv", process(5));
  const std::string link = process(5) + process(5, {{"pid", "8"}, {"program", "tests_small"}});
  EXPECT_EQ(bench({"compare", old_rows, file("new.csv", link)}), 0) << "a link to the program is new: " << all();
}

TEST_F(SilentWindows, MakeNoAnswerWhereNoTestIsCommon) {
  const auto rows = [&](const std::string& suite) {
    std::string tests;
    for (const char* name : {".One", ".Two"}) tests += window(1, {{"kind", "test"}, {"test", suite + name}});
    return testing::run_row({{"window", "begin"}}) + tests +
           window(3, {{"kind", "environment"}, {"test", ""}, {"window", "set-up"}}) +
           testing::run_row({{"window", "end"}, {"outcome", "passed"}});
  };
  const std::string old_rows = file("old.csv", rows("Old"));
  const std::string new_rows = file("new.csv", rows("New"));
  EXPECT_EQ(bench({"compare", old_rows, new_rows, "--allow", "missing"}), 2) << all();
  const std::string baseline = folder_.file("tests.baseline");
  ASSERT_EQ(bench({"baseline", "update", old_rows, "--output", baseline}), 0) << all();
  EXPECT_EQ(bench({"check", new_rows, "--baseline", baseline, "--allow", "missing"}), 2) << all();
  EXPECT_EQ(bench({"compare", old_rows, new_rows, "--test", "environment*"}), 0) << "asked for: " << all();
  const std::string before_tests = testing::run_row({{"window", "begin"}}) +
                                   window(3, {{"kind", "environment"}, {"test", ""}, {"window", "set-up"}});
  const std::string crashed = file("crashed.csv", before_tests);
  EXPECT_EQ(bench({"compare", old_rows, crashed}), 1) << "a crash is red: " << all();
  EXPECT_EQ(bench({"check", crashed, "--baseline", baseline}), 1) << all();
  EXPECT_TRUE(has("crashed")) << all();
  EXPECT_FALSE(has("--update")) << "would be refused: " << all();
  const std::string scope =
      window(1, {{"kind", "scope"}, {"test", ""}, {"window", "load"}, {"parent", "set-up"}}, false);
  const std::string old_scope = file("old_scope.csv", rows("Old") + scope);
  EXPECT_EQ(bench({"compare", old_scope, file("new_scope.csv", rows("New") + scope), "--allow", "missing"}), 2)
      << "a scope in a set-up is no test: " << all();
}

TEST_F(SilentWindows, AreUnknownAfterVoidCounts) {
  const std::string uncounted = testing::test_row(
      {{"kind", "suite"}, {"test", "Suite"}, {"window", "tear-down"}, {"total_calls", ""}, {"outcome", ""}});
  const std::string environment = window(40, {{"kind", "environment"}, {"test", ""}, {"window", "tear-down"}});
  const std::string forty = file("forty.csv", process(0) + environment);
  EXPECT_EQ(bench({"compare", file("void.csv", process(0) + uncounted), forty}), 0) << all();
  EXPECT_FALSE(has("0 -> 40")) << all();
}

TEST_F(SilentWindows, KeepTheirLinesInABaseline) {
  std::string runs;
  for (int day = 10; day < 15; ++day) runs += process(day == 14 ? 3 : 0, of_day(day));
  const std::string baseline = folder_.file("tests.baseline");
  ASSERT_EQ(bench({"baseline", "update", file("runs.csv", runs), "--all-runs", "--output", baseline}), 0) << all();
  EXPECT_EQ(bench({"check", file("none.csv", process(0, of_day(20))), "--baseline", baseline, "--update"}), 0) << all();
  EXPECT_EQ(bench({"check", file("three.csv", process(3, of_day(21))), "--baseline", baseline}), 0) << all();
}

/// A program that crashed did not come to all of its tests.
TEST_F(SilentWindows, OfACrashedProgramTakeNoLineOutOfABaseline) {
  const std::string baseline = folder_.file("tests.baseline");
  const std::string last = window(1, {{"kind", "test"}, {"test", "Suite.Last"}});
  ASSERT_EQ(bench({"baseline", "update", file("old.csv", process(1) + last), "--output", baseline}), 0) << all();
  const std::string crashed = file("crashed.csv", process(1, of_day(20), "set-up", false));
  EXPECT_EQ(bench({"check", crashed, "--baseline", baseline, "--update"}), 2) << all();
  EXPECT_NE(all().find("no baseline was written"), std::string::npos) << all();
  EXPECT_EQ(bench({"check", crashed, "--baseline", baseline, "--update", "--allow-failed"}), 0) << all();
  std::ifstream written(baseline);
  EXPECT_NE(std::string(std::istreambuf_iterator<char>(written), {}).find("Suite.Last"), std::string::npos);
}

TEST_F(SilentWindows, OfAProgramThatDidNotBeginTakeNoLineOutOfABaseline) {
  const std::string baseline = folder_.file("tests.baseline");
  const Cells other = {{"program", "other"}, {"pid", "8"}};
  ASSERT_EQ(bench({"baseline", "update", file("old.csv", process(1) + process(1, other)), "--output", baseline}), 0);
  const std::string ended = testing::run_row(with(other, {{"window", "exit"}, {"outcome", "exit code 127"}}));
  EXPECT_EQ(bench({"check", file("new.csv", process(2) + ended), "--baseline", baseline, "--update"}), 2) << all();
  EXPECT_NE(all().find("other ended with exit code 127 before it reported a test"), std::string::npos) << all();
  EXPECT_EQ(bench({"check", file("gone.csv", process(2)), "--baseline", baseline, "--update"}), 0) << all();
}

TEST_F(SilentWindows, ThatAreUnknownKeepTheirLines) {
  const std::string baseline = folder_.file("tests.baseline");
  const Cells second = {{"kind", "test"}, {"test", "Suite.Two"}};
  const std::string two = window(1, second);
  ASSERT_EQ(bench({"baseline", "update", file("old.csv", process(40) + two), "--output", baseline}), 0) << all();
  const std::string uncounted = testing::test_row(with(of_day(20), {{"test", "Suite.Two"}, {"total_calls", ""}}));
  const std::string unknown = file("unknown.csv", process(0, of_day(20)) + uncounted);
  bench({"check", unknown, "--baseline", baseline, "--update", "--allow-lost"});
  EXPECT_EQ(bench({"check", file("new.csv", process(4000, of_day(21)) + window(1, with(of_day(21), second))),
                   "--baseline", baseline}),
            1)
      << all();
}

TEST_F(SilentWindows, KeepTheBudgetsOfSetUps) {
  const std::string rules =
      text("rules.toml", "[[budget]]\nmeasure = \"calls\"\nper = \"run\"\ntest = \"suite *\"\nmax = 4\n");
  const std::string none = file("none.csv", process(0));
  EXPECT_EQ(bench({"check", none, "--budgets", rules}), 0) << all();
  EXPECT_EQ(bench({"check", file("five.csv", process(5)), "--budgets", rules}), 1) << all();
  const std::string other =
      text("other.toml", "[[budget]]\nmeasure = \"calls\"\nper = \"run\"\ntest = \"suite X*\"\nmax = 4\n");
  EXPECT_EQ(bench({"check", none, "--budgets", other}), 1) << "no suite of this name ran: " << all();
  const std::string whole =
      text("whole.toml", "[[budget]]\nmeasure = \"calls\"\nper = \"run\"\ntest = \"environment*\"\nmax = 4\n");
  EXPECT_EQ(bench({"check", none, "--budgets", whole}), 0) << all();
  const std::string uncounted = testing::test_row({{"test", "Suite.Void"}, {"total_calls", ""}});
  EXPECT_EQ(bench({"check", file("void.csv", process(0) + uncounted), "--budgets", rules}), 3) << all();
  const std::string void_end = testing::test_row(
      {{"kind", "suite"}, {"test", "Suite"}, {"window", "tear-down"}, {"total_calls", ""}, {"outcome", ""}});
  EXPECT_EQ(bench({"check", file("void_end.csv", process(0) + void_end), "--budgets", whole}), 3) << all();
  const std::string time = text("time.toml", "[[budget]]\nmeasure = \"wall\"\ntest = \"suite *\"\nmax = \"4 ms\"\n");
  EXPECT_EQ(bench({"check", none, "--budgets", time}), 1) << "its time is not known: " << all();
}

}  // namespace
}  // namespace syscost::bench
