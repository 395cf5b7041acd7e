// SPDX-License-Identifier: MIT
//
// What a further run confirms, and what it clears; and the commands that are run for it.
#include "commands/confirmation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench.h"
#include "commands/compare.h"
#include "csv_text.h"

namespace syscost::bench {
namespace {

namespace fs = std::filesystem;
using commands::Confirmation;
using stats::Comparison;

stats::WindowSummary named_window() {
  stats::WindowSummary window;
  window.name = "S.T";
  window.program = "tests";
  return window;
}

/// A test in which each of these syscalls was called once more.
Comparison grown(const std::vector<std::string>& syscalls, const stats::WindowSummary& window) {
  Comparison row;
  row.name = "S.T";
  row.old_window = row.new_window = &window;
  row.verdict = syscalls.empty() ? stats::Verdict::same : stats::Verdict::regressed;
  for (const std::string& name : syscalls) {
    stats::Delta delta;
    delta.syscall = name;
    delta.old_count = {1, 1, 1, 1};
    delta.new_count = {1, 2, 2, 2};
    delta.change = stats::Change::grew;
    row.deltas.push_back(delta);
  }
  return row;
}

TEST(Confirmation, KeepsRedWhatGrewInEachRun) {
  const stats::WindowSummary window = named_window();
  Comparison row = grown({"openat", "getrandom"}, window);
  Confirmation confirmation({row}, {.counts = true});
  EXPECT_EQ(confirmation.take({grown({"openat"}, window)}), "");
  EXPECT_EQ(confirmation.take({grown({"openat", "read"}, window)}), "");
  EXPECT_EQ(confirmation.suspects(), 1U);
  confirmation.apply_to(row);
  EXPECT_EQ(row.verdict, stats::Verdict::regressed);
  EXPECT_EQ(row.deltas[0].change, stats::Change::grew);
  EXPECT_EQ(row.deltas[1].change, stats::Change::near) << "getrandom did not repeat";
  EXPECT_EQ(commands::breakdown(row), "+1 openat, +1 getrandom (near)") << "one of them is red";
}

TEST(Confirmation, ClearsATestInWhichSomethingElseGrewEachTime) {
  const stats::WindowSummary window = named_window();
  Comparison row = grown({"openat"}, window);
  Confirmation confirmation({row}, {.counts = true});
  EXPECT_EQ(confirmation.take({grown({"read"}, window)}), "");
  EXPECT_EQ(confirmation.suspects(), 0U);
  confirmation.apply_to(row);
  EXPECT_EQ(row.verdict, stats::Verdict::near);
  EXPECT_NE(confirmation.text().find("did not repeat: S.T"), std::string::npos) << confirmation.text();
}

TEST(Confirmation, IsNotGivenByARunWithoutTheTest) {
  const stats::WindowSummary window = named_window();
  Confirmation confirmation({grown({"openat"}, window)}, {.counts = true});
  EXPECT_NE(confirmation.take({}), "");
  Comparison failed = grown({}, window);
  failed.verdict = stats::Verdict::errored;
  Confirmation other({grown({"openat"}, window)}, {.counts = true});
  EXPECT_NE(other.take({failed}), "");
}

TEST(Confirmation, IsNotDeniedByCountsThatAreLowerBounds) {
  const stats::WindowSummary window = named_window();
  Confirmation confirmation({grown({"openat"}, window)}, {.counts = true});
  Comparison lost = grown({}, window);
  lost.verdict = stats::Verdict::inconclusive;
  EXPECT_EQ(confirmation.take({lost}), "");
  EXPECT_EQ(confirmation.suspects(), 1U);
}

stats::TimeVerdict time_verdict(stats::Verdict verdict, std::optional<double> p) {
  stats::TimeVerdict time;
  time.verdict = verdict;
  time.p = p;
  return time;
}

TEST(Confirmation, IsOfTimesThatAreGated) {
  const stats::WindowSummary window = named_window();
  Comparison row = grown({}, window);
  row.time = row.cpu = time_verdict(stats::Verdict::regressed, 0.001);
  EXPECT_EQ(Confirmation({row}, {.counts = true}).suspects(), 0U);
  Confirmation confirmation({row}, {.wall = true, .cpu = true});
  Comparison again = row;
  again.time = time_verdict(stats::Verdict::same, 0.4);
  EXPECT_EQ(confirmation.take({again}), "");
  again.cpu = time_verdict(stats::Verdict::insufficient, std::nullopt);
  EXPECT_EQ(confirmation.take({again}), "") << "too few samples clear nothing";
  EXPECT_EQ(confirmation.suspects(), 1U);
  confirmation.apply_to(row);
  EXPECT_FALSE(row.has_wall_verdict(stats::Verdict::regressed));
  EXPECT_TRUE(row.has_cpu_verdict(stats::Verdict::regressed));
  EXPECT_EQ(row.verdict, stats::Verdict::same);
}

TEST(Confirmation, IsNotDeniedByATimeThatWasNotJudged) {
  const stats::WindowSummary window = named_window();
  Comparison row = grown({}, window);
  row.time = time_verdict(stats::Verdict::regressed, 0.001);
  Confirmation confirmation({row}, {.wall = true});
  Comparison again = row;
  again.time = time_verdict(stats::Verdict::insufficient, std::nullopt);
  EXPECT_EQ(confirmation.take({again}), "");
  again.time.reset();
  EXPECT_EQ(confirmation.take({again}), "");
  EXPECT_EQ(confirmation.suspects(), 1U);
  confirmation.apply_to(row);
  EXPECT_TRUE(row.has_wall_verdict(stats::Verdict::regressed));
}

TEST(Confirmation, LeavesTimesThatAreNotGatedAlone) {
  const stats::WindowSummary window = named_window();
  Comparison row = grown({}, window);
  row.time = time_verdict(stats::Verdict::regressed, 0.001);
  EXPECT_EQ(Confirmation({row}, {.cpu = true}).suspects(), 0U);
  row.cpu = time_verdict(stats::Verdict::regressed, 0.001);
  Confirmation confirmation({row}, {.wall = true});
  Comparison again = row;
  again.time = time_verdict(stats::Verdict::same, 0.4);
  EXPECT_EQ(confirmation.take({again}), "");
  confirmation.apply_to(row);
  EXPECT_FALSE(row.has_wall_verdict(stats::Verdict::regressed));
  EXPECT_TRUE(row.has_cpu_verdict(stats::Verdict::regressed));
  row.time = time_verdict(stats::Verdict::regressed, 0.001);
  row.is_plain = true;
  EXPECT_EQ(Confirmation({row}, {.wall = true}).suspects(), 0U) << "no further run writes a file of times alone";
}

TEST(Confirmation, IsNotGivenByVolatileCallsOrByGrowthThatIsAllowed) {
  const stats::WindowSummary window = named_window();
  Comparison row = grown({"openat", "futex"}, window);
  row.deltas[1].is_volatile = true;
  Confirmation by_volatile({row}, {.counts = true});
  Comparison again = row;
  again.deltas[0].change = stats::Change::none;
  EXPECT_EQ(by_volatile.take({again}), "");
  EXPECT_EQ(by_volatile.suspects(), 0U);
  Comparison calmed = row;
  by_volatile.apply_to(calmed);
  EXPECT_EQ(calmed.verdict, stats::Verdict::near);
  EXPECT_EQ(calmed.deltas[1].change, stats::Change::grew) << "it is shown as it is";

  Confirmation by_allowed({row}, {.counts = true});
  again = row;
  again.verdict = stats::Verdict::near;  // by --gate-counts
  EXPECT_EQ(by_allowed.take({again}), "");
  EXPECT_EQ(by_allowed.suspects(), 0U);
}

class Confirm : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "bench-confirm-test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    make("old", {{"net_tests", 1}, {"log_tests", 1}, {"gpu_tests", 1}});
    make("new", {{"net_tests", 2}, {"log_tests", 2}, {"gpu_tests", 1}});
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// A run of programs that all have the test Suite.Test, with so many writes in it.
  void make(const std::string& name, const std::vector<std::pair<std::string, int>>& programs) {
    std::ofstream file(path(name));
    file << testing::header();
    for (const auto& [program, calls] : programs) {
      const testing::Cells key = {{"program", program}, {"pid", std::to_string(program[0])}, {"run_id", name}};
      testing::Cells totals = key;
      totals.emplace("total_calls", std::to_string(calls));
      testing::Cells cells = key;
      cells.emplace("calls", std::to_string(calls));
      file << testing::test_row(totals) << testing::syscall_row(cells);
    }
  }
  /// `script` is sh's; it stands in the folder.
  int confirm(const std::string& script, const std::string& times = "2") {
    std::ofstream(path("run.sh")) << "cd " << folder_.string() << "\n" << script;
    out_.str("");
    err_.str("");
    return bench_main({"confirm", path("old"), path("new"), "--times", times, "--", "sh", path("run.sh"), word_}, out_,
                      err_);
  }

  fs::path folder_;
  std::string word_ = "all";
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(Confirm, IsRedWhereEachRunIs) {
  EXPECT_EQ(confirm("cp new \"$SYSCOST_CSV\""), 1) << err_.str();
  EXPECT_NE(out_.str().find("run 2 more times: 2 of 2 red tests repeated"), std::string::npos) << out_.str();
}

TEST_F(Confirm, StopsWhenNothingIsSuspectedAnyMore) {
  EXPECT_EQ(confirm("echo >> log; cp old \"$SYSCOST_CSV\"", "5"), 0) << err_.str();
  EXPECT_EQ(fs::file_size(path("log")), 1U) << "one run cleared all";
}

TEST_F(Confirm, RunsTheSuspiciousProgramsAloneWhereTheCommandNamesThem) {
  make("net_tests", {{"net_tests", 1}});
  make("log_tests", {{"log_tests", 2}});
  word_ = "{program}";
  EXPECT_EQ(confirm("echo $1 >> log; if [ -s \"$SYSCOST_CSV\" ]; then tail -n +2 $1 >> \"$SYSCOST_CSV\"; "
                    "else cp $1 \"$SYSCOST_CSV\"; fi"),
            1)
      << out_.str() << err_.str();
  std::ostringstream log;
  log << std::ifstream(path("log")).rdbuf();
  EXPECT_EQ(log.str(), "log_tests\nnet_tests\nlog_tests\n") << "the second time net_tests was cleared";
  EXPECT_NE(out_.str().find("did not repeat: Suite.Test (net_tests)"), std::string::npos) << out_.str();
}

TEST_F(Confirm, PutsNoNameIntoACommandThatMayBeMoreThanAName) {
  for (const char* program : {"x; touch pwned; #",
                              "$(touch pwned)",
                              "`touch pwned`",
                              "a b",
                              "a\tb",
                              "a'b",
                              "-rf",
                              "..",
                              ".hidden",
                              "a|b",
                              "a&b",
                              "a>b",
                              "a*",
                              "~root",
                              "a=b",
                              "gr\u00fcn",
                              "a\\\\b",
                              "a!b",
                              "a%b",
                              "a:b",
                              "a@b",
                              "a#b",
                              "a{b}",
                              "a\x1b[31m"}) {
    make("old", {{program, 1}});
    make("new", {{program, 2}});
    word_ = "eval {program}";
    EXPECT_EQ(confirm("eval \"$1\"; cp new \"$SYSCOST_CSV\""), 2) << program;
    EXPECT_NE(err_.str().find("is not put in the place of {program}"), std::string::npos) << err_.str();
    EXPECT_EQ(err_.str().find('\x1b'), std::string::npos) << "it is printed as it is";
    EXPECT_FALSE(fs::exists(path("pwned"))) << program;
    word_ = "all";
    EXPECT_EQ(confirm("cp new \"$SYSCOST_CSV\""), 1) << program << ": a command without it runs: " << err_.str();
  }
}

TEST_F(Confirm, RefusesANameBeforeTheFirstRun) {
  make("old", {{"a_tests", 1}, {"b tests", 1}});
  make("new", {{"a_tests", 2}, {"b tests", 2}});
  word_ = "{program}";
  EXPECT_EQ(confirm("echo $1 >> log; cp new \"$SYSCOST_CSV\""), 2);
  EXPECT_FALSE(fs::exists(path("log"))) << "a_tests comes first";
  EXPECT_NE(err_.str().find("red test of the program \"b tests\""), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find("rename the target"), std::string::npos) << err_.str();
}

TEST_F(Confirm, IsAnErrorWhenTheCommandFails) {
  EXPECT_EQ(confirm("cp old \"$SYSCOST_CSV\"; echo broken; exit 1"), 2);
  EXPECT_NE(err_.str().find("broken"), std::string::npos) << err_.str();
  EXPECT_EQ(confirm("exit 0"), 2) << "wrote no CSV";
  EXPECT_EQ(confirm("cp net \"$SYSCOST_CSV\" 2>/dev/null; grep -v log_tests new > \"$SYSCOST_CSV\""), 2)
      << "a suspected test did not run";
}

}  // namespace
}  // namespace syscost::bench
