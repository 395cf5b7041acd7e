// SPDX-License-Identifier: MIT
//
// bench ab with shell scripts for A and B: the order, what each run gets, and which files stay. tests/cli tests what it
// prints.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench.h"
#include "cli/options.h"
#include "cli/parse.h"
#include "commands/ab/ab.h"
#include "commands/commands.h"
#include "csv_text.h"
#include "render/terminal.h"

namespace syscost::bench {
namespace {

namespace fs = std::filesystem;

class Ab : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "bench-ab-test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    // All runs have the same time, so that the first look decides.
    std::ofstream(folder_ / "row.csv") << testing::header()
                                       << testing::test_row(
                                              {{"run_id", "RUN"}, {"wall_ns", "1000"}, {"total_calls", "1"}})
                                       << testing::syscall_row({{"run_id", "RUN"}});
    std::ofstream script(folder_ / "run.sh");
    script << "echo \"$1 $SYSCOST_RUN_ID $(basename \"$SYSCOST_CSV\") $BENCHMARK_OUT_FORMAT\" >> " << folder_ / "log"
           << "\n"
           << "sed \"s/RUN/$SYSCOST_RUN_ID/\" " << folder_ / "row.csv"
           << " > \"$SYSCOST_CSV\"\n";
  }
  void TearDown() override { fs::remove_all(folder_); }

  int run(std::vector<std::string> options) {
    std::vector<std::string> args = {"ab", "--rounds", "4"};
    args.insert(args.end(), options.begin(), options.end());
    const std::string script = (folder_ / "run.sh").string();
    args.insert(args.end(), {"--", "sh", script, "a", "--", "sh", script, "b"});
    out_.str("");
    err_.str("");
    return bench_main(args, out_, err_);
  }
  std::vector<std::string> log() const {
    std::ifstream in(folder_ / "log");
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

  fs::path folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(Ab, TakesTurnsInAnOrderInWhichDriftFavoursNoSide) {
  ASSERT_EQ(run({}), 0) << err_.str();
  const std::vector<std::string> expected = {
      "a ab-A-1 000001.csv json", "b ab-B-1 000001.csv json", "b ab-B-2 000002.csv json", "a ab-A-2 000002.csv json",
      "a ab-A-3 000003.csv json", "b ab-B-3 000003.csv json", "b ab-B-4 000004.csv json", "a ab-A-4 000004.csv json"};
  std::vector<std::string> lines = log();
  ASSERT_GE(lines.size(), expected.size());
  lines.resize(expected.size());
  EXPECT_EQ(lines, expected);
}

TEST_F(Ab, TimesTheWholeCommandWhereAsked) {
  // Processor time by a loop of the shell, wall time by waiting: neither is asserted, only that both were measured.
  std::ofstream(folder_ / "run.sh") << "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; sleep 0.01\n";
  const int code = run({"--whole", "--gate", "none", "--budget", "0", "--format", "json"});
  ASSERT_EQ(code, 0) << err_.str();
  const auto json = nlohmann::json::parse(out_.str());
  ASSERT_EQ(json["tests"].size(), 1U);
  const auto& row = json["tests"][0];
  EXPECT_EQ(row["test"], "benchmark whole command");
  EXPECT_GE(row["old"]["wall_ns"]["median"], 10'000'000) << "it slept so long";
  EXPECT_GT(row["old"]["cpu_ns"]["median"], 0);
  EXPECT_EQ(run({"--gate", "none", "--budget", "0"}), 2) << "without it a command that writes no file is none";
}

TEST_F(Ab, KeepsTheFilesOnlyWhereAsked) {
  const fs::path kept = folder_ / "kept";
  ASSERT_EQ(run({"--keep", kept.string(), "--format", "json"}), 0) << err_.str();
  EXPECT_TRUE(fs::exists(kept / "a" / "000001.csv"));
  EXPECT_TRUE(fs::exists(kept / "b" / "000004.csv"));
  const auto json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["tests"][0]["time"]["sample"], "process");
  EXPECT_EQ(json["tests"][0]["verdict"], "same");

  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(bench_main({"compare", (kept / "a").string(), (kept / "b").string()}, out, err), 0) << err.str();
  EXPECT_EQ(run({"--keep", kept.string()}), 2) << "the folder is in use";
}

/// The budget's clock is a second for each process that ran, so a round takes two.
class AbWithinABudget : public Ab {
 protected:
  void SetUp() override {
    Ab::SetUp();
    // No look decides: the times of both sides scatter by far more than the threshold, and alike.
    std::ofstream script(folder_ / "run.sh");
    script << "echo run >> " << folder_ / "log"
           << "\n"
           << "round=$(expr \"$(basename \"$SYSCOST_CSV\" .csv)\" + 0)\n"
           << "sed \"s/RUN/$SYSCOST_RUN_ID/;s/,1000,/,$((1000 + round * 53 % 17 * 100)),/\" " << folder_ / "row.csv"
           << " > \"$SYSCOST_CSV\"\n";
  }

  /// Runs ab with a budget and returns the first line that it prints.
  std::string rounds_line(std::vector<std::string> options) {
    fs::remove(folder_ / "log");
    std::vector<std::string> args = {"ab"};
    args.insert(args.end(), options.begin(), options.end());
    const std::string script = (folder_ / "run.sh").string();
    args.insert(args.end(), {"--", "sh", script, "--", "sh", script});
    const cli::Parsed parsed = cli::parse(args, commands::kAll);
    EXPECT_TRUE(parsed.options.has_value()) << parsed.message;
    out_.str("");
    code_ = commands::ab(*parsed.options, render::Paint(false), out_, err_,
                         [this] { return static_cast<double>(log().size()); });
    std::istringstream lines(out_.str());
    for (std::string line; std::getline(lines, line);) {
      if (line.find(" of A ") != std::string::npos) return line;
    }
    return "none";
  }

  int code_ = -1;
};

TEST_F(AbWithinABudget, RunsOneRoundWhateverTheBudget) {
  EXPECT_EQ(rounds_line({"--rounds", "6", "--budget", "0"}),
            "1 round of A (OLD) and B (NEW) in turns; the budget of 0 s is spent before 6 rounds, with 1 time "
            "undecided");
  EXPECT_EQ(code_, 3) << "no time can be red: " << err_.str();
  EXPECT_EQ(log().size(), 2U);
}

TEST_F(AbWithinABudget, BeginsNoRoundThatWouldEndAfterIt) {
  EXPECT_EQ(rounds_line({"--rounds", "6", "--budget", "7.5"}),
            "3 rounds of A (OLD) and B (NEW) in turns; the budget of 7.5 s is spent before 6 rounds, with 1 time "
            "undecided");
  EXPECT_EQ(log().size(), 6U);
  EXPECT_EQ(rounds_line({"--rounds", "6", "--budget", "8"}).substr(0, 8), "4 rounds") << "one that ends with it fits";
}

TEST_F(AbWithinABudget, GoesOnForUndecidedTimesWhileItIsWorthIt) {
  EXPECT_EQ(rounds_line({"--rounds", "6", "--budget", "15"}),
            "6 rounds of A (OLD) and B (NEW) in turns; the budget of 15 s is spent, with 1 time undecided")
      << "one round more would say little more";
  EXPECT_EQ(rounds_line({"--rounds", "6", "--budget", "21"}),
            "10 rounds of A (OLD) and B (NEW) in turns; the budget of 21 s is spent, with 1 time undecided");
}

TEST_F(AbWithinABudget, LooksAtTheRoundsThereAreWhenTheyTakeLongerThanThought) {
  // From the ninth round on a process takes ten seconds: of the twelve rounds that seemed possible it runs fewer.
  std::ofstream(folder_ / "run.sh", std::ios::app)
      << "if [ $round -ge 9 ]; then for i in 1 2 3 4 5 6 7 8 9; do echo run >> " << folder_ / "log"
      << "; done; fi\n";
  EXPECT_EQ(rounds_line({"--rounds", "6", "--budget", "39", "--all"}),
            "9 rounds of A (OLD) and B (NEW) in turns; the budget of 39 s is spent, with 1 time undecided");
  EXPECT_NE(out_.str().find("n=9"), std::string::npos) << out_.str();
}

TEST_F(Ab, LeavesNothingInTheTemporaryFolder) {
  const fs::path temporary = folder_ / "tmp";
  fs::create_directory(temporary);
  const char* const before = std::getenv("TMPDIR");
  const std::string kept_before = before == nullptr ? "" : before;
  ::setenv("TMPDIR", temporary.c_str(), 1);
  const int code = run({});
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept_before.c_str(), 1);
  EXPECT_EQ(code, 0) << err_.str();
  EXPECT_TRUE(fs::is_empty(temporary));
}

TEST_F(Ab, AcceptsAChangeThatIsIntended) {
  std::ofstream(folder_ / "b.sh") << "sed \"s/RUN/$SYSCOST_RUN_ID/; s/,write,/,socket,/\" " << folder_ / "row.csv"
                                  << " > \"$SYSCOST_CSV\"\n";
  std::ofstream(folder_ / "log.txt") << "Syscost-Accept: *: +1 socket -- it sends now\n";
  std::vector<std::string> args = {"ab", "--counts", "--rounds", "2"};
  const std::vector<std::string> commands = {"--", "sh", (folder_ / "run.sh").string(), "a",
                                             "--", "sh", (folder_ / "b.sh").string()};
  std::vector<std::string> without = args;
  without.insert(without.end(), commands.begin(), commands.end());
  EXPECT_EQ(bench_main(without, out_, err_), 1) << out_.str() << err_.str();
  args.insert(args.end(), {"--accept-from", (folder_ / "log.txt").string()});
  args.insert(args.end(), commands.begin(), commands.end());
  EXPECT_EQ(bench_main(args, out_, err_), 0) << out_.str() << err_.str();
  EXPECT_NE(out_.str().find("accepted: it sends now ("), std::string::npos) << out_.str();
}

}  // namespace
}  // namespace syscost::bench
