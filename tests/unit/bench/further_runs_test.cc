// SPDX-License-Identifier: MIT
//
// The commands that `compare` and `check` run again, and what becomes of the verdict.
#include "commands/shared/command_runs.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

#include "bench.h"
#include "cli/parse.h"
#include "commands/commands.h"
#include "commands/compare/compare.h"
#include "csv_text.h"

namespace syscost::bench {
namespace {

namespace fs = std::filesystem;

class FurtherRuns : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "bench-further-runs-test.XXXXXX").string();
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
  /// `script` is sh's; it stands in the folder, and measures NEW.
  int compare(const std::string& script, const std::vector<std::string>& more = {}) {
    std::ofstream(path("run.sh")) << "cd " << folder_.string() << "\n" << script;
    return bench({"compare", path("old"), path("new"), "--new", "sh " + path("run.sh") + " \"" + word_ + "\""}, more);
  }
  int bench(std::vector<std::string> arguments, const std::vector<std::string>& more = {}) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    out_.str("");
    err_.str("");
    return bench_main(arguments, out_, err_);
  }
  std::string log() const {
    std::ostringstream text;
    text << std::ifstream(path("log")).rdbuf();
    return text.str();
  }

  fs::path folder_;
  std::string word_ = "all";
  std::ostringstream out_;
  std::ostringstream err_;
};

// One thread made the calls, so that a run that repeats the count is enough.
TEST_F(FurtherRuns, LeaveACountRedThatTheyRepeat) {
  EXPECT_EQ(compare("echo >> log; cp new \"$SYSCOST_CSV\""), 1) << err_.str();
  EXPECT_EQ(log(), "\n");
  EXPECT_NE(out_.str().find("the same in 1 further run"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find(": 2 of 2 tests decided"), std::string::npos) << out_.str();
}

TEST_F(FurtherRuns, ClearWhatTheyDoNotRepeat) {
  EXPECT_EQ(compare("echo >> log; cp old \"$SYSCOST_CSV\""), 0) << err_.str();
  EXPECT_EQ(log(), "\n") << "one run cleared all";
  EXPECT_NE(out_.str().find("no change after all: Suite.Test (log_tests), Suite.Test (net_tests)"), std::string::npos)
      << out_.str();
}

TEST_F(FurtherRuns, AreNoneWhereNothingIsOpen) {
  EXPECT_EQ(bench({"compare", path("old"), path("old2"), "--new", "exit 3"}), 2);
  make("old2", {{"net_tests", 1}, {"log_tests", 1}, {"gpu_tests", 1}});
  EXPECT_EQ(bench({"compare", path("old"), path("old2"), "--new", "exit 3"}), 0) << err_.str();
}

TEST_F(FurtherRuns, AreOfTheOpenProgramsAloneWhereTheCommandNamesThem) {
  make("net_tests", {{"net_tests", 1}});
  make("log_tests", {{"log_tests", 2}});
  word_ = "{program}";
  EXPECT_EQ(compare("echo $1 >> log; cp $1 \"$SYSCOST_CSV\""), 1) << out_.str() << err_.str();
  EXPECT_EQ(log(), "log_tests\nnet_tests\n");
  EXPECT_NE(out_.str().find("no change after all: Suite.Test (net_tests)"), std::string::npos) << out_.str();
}

/// The comparison after runs of both sides in turns, in the place of a coin.
class InTurns : public FurtherRuns {
 protected:
  std::string decide(const std::string& old_one, const std::string& new_one) {
    const cli::Parsed parsed =
        cli::parse({"compare", path("old"), path("new"), "--old", "cp " + path(old_one) + " \"$SYSCOST_CSV\"", "--new",
                    "cp " + path(new_one) + " \"$SYSCOST_CSV\""},
                   commands::kAll);
    if (!parsed.options) return parsed.message;
    cli::Options options = *parsed.options;
    csv::Problems problems;
    EXPECT_TRUE(commands::compare_both(options, result_, problems, err_)) << err_.str();
    bool is_new = false;
    return commands::run_again(options, result_, err_, [&] { return is_new = !is_new; });
  }
  std::vector<std::string_view> verdicts() const {
    std::vector<std::string_view> words;
    for (const judge::Comparison& row : result_.rows) words.push_back(judge::to_string(row.verdict));
    std::sort(words.begin(), words.end());
    return words;
  }

  commands::CompareResult result_;
};

TEST_F(InTurns, TellTheSidesApart) {
  EXPECT_EQ(decide("old", "new"), "");
  EXPECT_EQ(verdicts(), (std::vector<std::string_view>{"regressed", "regressed", "same"}));
  EXPECT_EQ(result_.further_runs.substr(0, 15), "13 further runs") << result_.further_runs;
}

TEST_F(InTurns, ClearSidesThatMakeTheSame) {
  EXPECT_EQ(decide("old", "old"), "");
  EXPECT_EQ(verdicts(), (std::vector<std::string_view>{"near", "near", "same"}));
}

TEST_F(FurtherRuns, OfOldAloneTellNothing) {
  EXPECT_EQ(bench({"compare", path("old"), path("new"), "--old", "true"}), 2);
  EXPECT_NE(err_.str().find("--old needs --new"), std::string::npos) << err_.str();
}

TEST_F(FurtherRuns, EndWithTheBudget) {
  const std::string copy = "cp " + path("old") + " \"$SYSCOST_CSV\"";
  const std::string copy_new = "cp " + path("new") + " \"$SYSCOST_CSV\"";
  EXPECT_EQ(bench({"compare", path("old"), path("new"), "--old", copy, "--new", copy_new, "--budget", "0"}), 1)
      << "what one thread does stays exact";
  EXPECT_NE(out_.str().find("1 further run, "), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("the budget of 0 s is used: 0 of 2 tests decided"), std::string::npos) << out_.str();
}

TEST_F(FurtherRuns, OfCheckBeginWithTheRunItself) {
  EXPECT_EQ(bench({"baseline", "update", path("old"), "-o", path("syscost.baseline")}), 0) << err_.str();
  const std::vector<std::string> check = {"check", "--baseline", path("syscost.baseline"), "--budgets", "/dev/null"};
  std::vector<std::string> arguments = check;
  arguments.insert(arguments.end(),
                   {"--", "sh", "-c", "echo >> " + path("log") + "; cp " + path("new") + " $SYSCOST_CSV"});
  EXPECT_EQ(bench(arguments), 1) << err_.str();
  EXPECT_EQ(log(), "\n\n") << "the run, and one that repeats it";
  EXPECT_NE(out_.str().find("bench check --update -- sh -c 'echo >> "), std::string::npos) << out_.str();
  arguments.insert(arguments.begin() + 1, "--update");
  EXPECT_EQ(bench(arguments), 0) << err_.str();
  arguments.erase(arguments.begin() + 1);
  EXPECT_EQ(bench(arguments), 0) << out_.str();
  EXPECT_EQ(bench(check), 2);
  EXPECT_NE(err_.str().find("check needs a RUN, or a command"), std::string::npos) << err_.str();
}

TEST_F(FurtherRuns, PutsNoNameIntoACommandThatMayBeMoreThanAName) {
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
    word_ = "{program}";
    EXPECT_EQ(compare("eval \"$1\"; cp new \"$SYSCOST_CSV\""), 2) << program;
    EXPECT_NE(err_.str().find("is not put in the place of {program}"), std::string::npos) << err_.str();
    EXPECT_EQ(err_.str().find('\x1b'), std::string::npos) << "it is printed as it is";
    EXPECT_FALSE(fs::exists(path("pwned"))) << program;
    word_ = "all";
    EXPECT_EQ(compare("cp new \"$SYSCOST_CSV\""), 1) << program << ": a command without it runs: " << err_.str();
  }
}

TEST_F(FurtherRuns, RefusesANameBeforeTheFirstRun) {
  make("old", {{"a_tests", 1}, {"b tests", 1}});
  make("new", {{"a_tests", 2}, {"b tests", 2}});
  word_ = "{program}";
  EXPECT_EQ(compare("echo $1 >> log; cp new \"$SYSCOST_CSV\""), 2);
  EXPECT_FALSE(fs::exists(path("log"))) << "a_tests comes first";
  EXPECT_NE(err_.str().find("a test to run again of the program \"b tests\""), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find("rename the target"), std::string::npos) << err_.str();
}

// Tests that fail end a command with a status, and so do tests that have nothing to do with syscost.
TEST_F(FurtherRuns, CountAlsoWhereTheCommandEndsWithAStatus) {
  EXPECT_EQ(compare("cp old \"$SYSCOST_CSV\"; exit 8"), 0) << err_.str();
}

TEST_F(FurtherRuns, SayHowManyOfTheCommandsEndedWithAStatus) {
  EXPECT_EQ(compare("cp new \"$SYSCOST_CSV\"; exit 8"), 1) << err_.str();
  EXPECT_NE(out_.str().find("1 further run, 1 of the commands ended with exit status 8: 2 of 2 tests decided"),
            std::string::npos)
      << out_.str();
}

/// `check -- COMMAND`: the run itself.
class RunOfCheck : public FurtherRuns {
 protected:
  void SetUp() override {
    FurtherRuns::SetUp();
    ASSERT_EQ(bench({"baseline", "update", path("old"), "-o", path("syscost.baseline")}), 0) << err_.str();
  }
  int check(const std::string& script, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"check", "--baseline", path("syscost.baseline"), "--budgets", "/dev/null"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.insert(arguments.end(), {"--", "sh", "-c", "cd " + folder_.string() + "; " + script});
    return bench(arguments);
  }
};

// Its tests all passed; what failed has no row.
TEST_F(RunOfCheck, IsRedIfTheCommandFailsAndNoTestOfItDid) {
  EXPECT_EQ(check("cp old $SYSCOST_CSV; echo half of it is missing; exit 8"), 1) << err_.str();
  EXPECT_EQ(out_.str().find("verdict: red, "), 0U) << out_.str();
  EXPECT_NE(out_.str().find("the command ended with exit status 8, and no failed test explains it"), std::string::npos)
      << out_.str();
  EXPECT_NE(err_.str().find("half of it is missing"), std::string::npos) << err_.str();
  EXPECT_EQ(check("cp old $SYSCOST_CSV; kill -9 $$"), 1);
  EXPECT_NE(out_.str().find("ended with killed by signal 9 (Killed), and no failed test"), std::string::npos)
      << out_.str();
}

TEST_F(RunOfCheck, IsOfTestsThatFailedIfTheyExplainTheStatus) {
  std::ofstream(path("failed")) << testing::header()
                                << testing::test_row({{"program", "net_tests"}, {"outcome", "failed"}})
                                << testing::syscall_row({{"program", "net_tests"}});
  EXPECT_EQ(check("cp failed $SYSCOST_CSV; exit 1"), 1) << err_.str();
  EXPECT_NE(out_.str().find("the command ended with exit status 1: 1 test failed"), std::string::npos) << out_.str();
  EXPECT_EQ(out_.str().find("no failed test explains it"), std::string::npos) << out_.str();
}

TEST_F(RunOfCheck, SaysNothingOfACommandThatSucceeds) {
  EXPECT_EQ(check("cp old $SYSCOST_CSV"), 0) << err_.str();
  EXPECT_EQ(out_.str().find("the command"), std::string::npos) << out_.str();
}

TEST_F(RunOfCheck, UpdatesNoBaselineIfTheCommandFailsAndNoTestOfItDid) {
  EXPECT_EQ(check("grep -v net_tests new > $SYSCOST_CSV; exit 8", {"--update"}), 2);
  EXPECT_NE(err_.str().find("no baseline was written: the command ended with exit status 8"), std::string::npos)
      << err_.str();
  EXPECT_EQ(check("cp old $SYSCOST_CSV"), 0) << "it is as it was";
}

// The command says that it runs, and goes on when the signal has been delivered.
TEST_F(RunOfCheck, EndsWithAMessageAfterCtrlC) {
  for (const char* name : {"begun", "go_on"}) ASSERT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
  std::thread user([&] {
    std::string word;
    std::ifstream(path("begun")) >> word;
    ::raise(SIGINT);  // returns when it was delivered
    std::ofstream(path("go_on")) << "go\n";
  });
  EXPECT_EQ(check("echo begun > begun; read word < go_on; cp new $SYSCOST_CSV"), 2);
  user.join();
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(err_.str(), "bench: interrupted: nothing was measured\n");
}

TEST_F(FurtherRuns, AreAnErrorWhereTheCommandWritesNothing) {
  EXPECT_EQ(compare("echo broken; exit 1"), 2);
  EXPECT_NE(err_.str().find("broken"), std::string::npos) << err_.str();
  EXPECT_EQ(compare("exit 0"), 2);
  EXPECT_NE(err_.str().find("wrote no CSV"), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find("fix: write `bench run --` before it"), std::string::npos) << err_.str();
}

TEST_F(FurtherRuns, WithoutTheTestSayNothingOfIt) {
  EXPECT_EQ(compare("grep -v log_tests new > \"$SYSCOST_CSV\"", {"--budget", "0"}), 1);
  EXPECT_NE(out_.str().find("1 of 2 tests decided"), std::string::npos) << out_.str();
}

}  // namespace
}  // namespace syscost::bench
