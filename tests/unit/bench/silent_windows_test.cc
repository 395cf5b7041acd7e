// SPDX-License-Identifier: MIT
//
// A set-up, a tear-down or a child's program without a call has no row. It is 0 calls, not unknown.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "../csv/temporary_folder.h"
#include "bench.h"
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
  if (cells.at("kind") == "process") totals.insert({{"lost", ""}, {"wall_ns", ""}});
  const Cells of_calls = with(cells, {{"calls", std::to_string(calls)}});
  return testing::test_row(totals) + (calls == 0 ? "" : testing::syscall_row(of_calls));
}

/// A process that runs Suite.Test so often, whose set-up writes `of_set_up[i]` times in repetition i, and its child in
/// the test `of_children[i]` times.
std::string process(const std::vector<int>& of_set_up, const Cells& of_run = {},
                    const std::vector<int>& of_children = {}, const char* window_of_suite = "set-up",
                    bool ends = true) {
  std::string rows = testing::run_row(with(of_run, {{"window", "begin"}}));
  for (std::size_t i = 0; i < of_set_up.size(); ++i) {
    const Cells turn = with(of_run, {{"repetition", std::to_string(i)}});
    rows += window(of_set_up[i], with(turn, {{"kind", "suite"}, {"test", "Suite"}, {"window", window_of_suite}}));
    rows += window(1, with(turn, {{"kind", "test"}, {"test", "Suite.Test"}}));
    if (of_children.size() <= i) continue;
    rows += window(of_children[i], with(turn, {{"kind", "process"}, {"test", "Suite.Test"}, {"window", "cat"}}));
  }
  return rows + (ends ? testing::run_row(with(of_run, {{"window", "end"}, {"outcome", "passed"}})) : "");
}

Cells of_day(int day) {
  return {{"run_id", "r" + std::to_string(day)}, {"started_at", "2026-11-" + std::to_string(day) + "T00:00:00Z"}};
}

class SilentWindows : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& rows) const {
    std::ofstream(folder_.file(name)) << testing::header() << rows;
    return folder_.file(name);
  }
  std::string text(const std::string& name, const std::string& content) const {
    std::ofstream(folder_.file(name)) << content;
    return folder_.file(name);
  }
  int bench(const std::vector<std::string>& args) {
    out_.str("");
    err_.str("");
    return bench_main(args, out_, err_);
  }
  bool has(const std::string& words) const { return out_.str().find(words) != std::string::npos; }
  std::string all() const { return out_.str() + err_.str(); }

  syscost::testing::TemporaryFolder folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(SilentWindows, AreRepetitionsWithoutCalls) {
  const std::string once = file("once.csv", process({5, 0, 0}));
  EXPECT_EQ(bench({"compare", once, file("each.csv", process({5, 5, 5})), "--all"}), 0) << all();
  EXPECT_TRUE(has("0 [0..5] -> 5")) << all();
  EXPECT_EQ(bench({"compare", once, file("more.csv", process({5, 6, 6}))}), 0) << all();
  EXPECT_TRUE(has("0 [0..5] -> 6 [5..6]")) << all();
}

TEST_F(SilentWindows, OfTearDownsAreUnknownInAProcessThatDidNotEnd) {
  const auto rows = [](bool ends) { return process({5, 5}) + process({0}, {{"pid", "8"}}, {}, "tear-down", ends); };
  const std::string tear_down = process({3}, {{"pid", "9"}}, {}, "tear-down");
  EXPECT_EQ(bench({"summary", file("ended.csv", rows(true) + tear_down), "--details", "--format", "json"}), 0) << all();
  EXPECT_TRUE(has("\"repetitions\": 4")) << "of all processes: " << all();
  bench({"summary", file("crashed.csv", rows(false) + tear_down), "--details", "--format", "json"});
  EXPECT_TRUE(has("\"repetitions\": 3")) << all();
}

TEST_F(SilentWindows, OfEnvironmentsAreOnceInAProcessUnlessTheyAreMadeAgain) {
  const Cells made = {{"kind", "environment"}, {"test", ""}, {"window", "set-up"}};
  const std::string twice = process({0, 0}) + process({0, 0}, {{"pid", "8"}});
  EXPECT_EQ(bench({"summary", file("once.csv", twice + window(4, made)), "--details", "--format", "json"}), 0) << all();
  EXPECT_TRUE(has("\"repetitions\": 2")) << all();
  const std::string again = window(4, made) + window(4, with(made, {{"repetition", "1"}}));
  EXPECT_EQ(bench({"summary", file("again.csv", twice + again), "--details", "--format", "json"}), 0) << all();
  EXPECT_FALSE(has("\"repetitions\": 2")) << all();
}

TEST_F(SilentWindows, OfChildrenAreThoseOfTestsThatStartedNone) {
  const std::string seldom = file("seldom.csv", process({0, 0, 0}, {}, {9, 0, 0}));
  EXPECT_EQ(bench({"compare", seldom, file("always.csv", process({0, 0, 0}, {}, {9, 9, 9})), "--all"}), 0) << all();
  EXPECT_TRUE(has("0 [0..9] -> 9")) << all();
}

TEST_F(SilentWindows, OfSomeRunsOfABaselineMakeARange) {
  std::string runs;
  for (int day = 10; day < 15; ++day) runs += process({day == 14 ? 3 : 0}, of_day(day));
  const std::string baseline = folder_.file("tests.baseline");
  ASSERT_EQ(bench({"baseline", "update", file("runs.csv", runs), "--all-runs", "--output", baseline}), 0) << all();
  EXPECT_EQ(bench({"check", file("three.csv", process({3}, of_day(20))), "--baseline", baseline}), 0) << all();
  EXPECT_FALSE(has("regressed")) << all();
}

TEST_F(SilentWindows, AreStepsInTheLogOfOneWindow) {
  std::string runs;
  for (const auto& [day, calls] : std::vector<std::pair<int, int>>{{10, 1}, {11, 0}, {12, 1}, {13, 3}}) {
    runs += process({calls}, of_day(day));
  }
  EXPECT_EQ(bench({"log", "suite Suite, set-up", file("runs.csv", runs)}), 0) << all();
  EXPECT_FALSE(has("not run")) << all();
  EXPECT_TRUE(has("3 steps")) << all();
}

TEST_F(SilentWindows, KeepTheBudgetsOfSetUps) {
  const std::string rules =
      text("rules.toml", "[[budget]]\nmeasure = \"calls\"\nper = \"run\"\ntest = \"suite *\"\nmax = 4\n");
  const std::string none = file("none.csv", process({0}));
  EXPECT_EQ(bench({"check", none, "--budgets", rules}), 0) << all();
  EXPECT_EQ(bench({"check", file("five.csv", process({5})), "--budgets", rules}), 1) << all();
  const std::string other =
      text("other.toml", "[[budget]]\nmeasure = \"calls\"\nper = \"run\"\ntest = \"suite X*\"\nmax = 4\n");
  EXPECT_EQ(bench({"check", none, "--budgets", other}), 1) << "no suite of this name ran: " << all();
}

}  // namespace
}  // namespace syscost::bench
