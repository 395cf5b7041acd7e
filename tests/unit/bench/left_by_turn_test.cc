// SPDX-License-Identifier: MIT
//
// A thing that a process makes once and keeps is told apart from one that a test leaves each time (--syscost_leaks).
#include "stats/repetitions.h"

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

/// A repetition of a test, in process `pid`.
struct Turn {
  std::string pid;
  std::string repetition;
  std::string descriptors;
  std::string threads = "0";
};

class LeftOpen : public ::testing::Test {
 protected:
  void add(const std::string& test, const std::vector<Turn>& turns) {
    for (const Turn& one : turns) {
      rows_ += testing::test_row({{"test", test},
                                  {"pid", one.pid},
                                  {"repetition", one.repetition},
                                  {"total_calls", "0"},
                                  {"descriptors_left", one.descriptors},
                                  {"threads_left", one.threads},
                                  {"children_left", one.descriptors.empty() ? "" : "0"}});
    }
  }
  int bench(std::vector<std::string> args, const std::string& budgets = {}) {
    const std::string path = folder_.file("run.csv");
    // With a second test, the summary is an overview.
    std::ofstream(path) << testing::header() << rows_
                        << testing::test_row({{"test", "Other.Closes"},
                                              {"total_calls", "0"},
                                              {"descriptors_left", "0"},
                                              {"threads_left", "0"},
                                              {"children_left", "0"}});
    args.insert(args.begin() + 1, path);
    if (!budgets.empty()) {
      std::ofstream(folder_.file("budgets.toml")) << budgets;
      args.insert(args.end(), {"--budgets", folder_.file("budgets.toml")});
    }
    out_.str("");
    return bench_main(args, out_, err_);
  }
  std::string summary(const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"summary"};
    args.insert(args.end(), more.begin(), more.end());
    EXPECT_EQ(bench(args), 0) << err_.str();
    return out_.str();
  }
  /// The line of the summary that begins with `words`.
  std::string line(const std::string& words) {
    const std::string text = summary();
    const std::size_t begin = text.find(words);
    return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
  }

  syscost::testing::TemporaryFolder folder_;
  std::string rows_;
  std::ostringstream out_;
  std::ostringstream err_;
};

constexpr const char* kAgain = "left open again when repeated, by ";
constexpr const char* kOnce = "left open once in a process, by ";
constexpr const char* kUnknown = "left open by ";
constexpr const char* kBudget = "[[budget]]\nleaked_descriptors = 0\n";

TEST_F(LeftOpen, InOneRepetitionIsNotSaidToBeALeak) {
  add("Pool.Starts", {{"7", "0", "0", "4"}});
  EXPECT_EQ(line(kUnknown), "left open by 1 test (--details has the descriptors): Pool.Starts: 4 threads");
  EXPECT_NE(line("a process may make some of it once").find("GTEST_REPEAT=2"), std::string::npos);
  EXPECT_EQ(line(kAgain) + line(kOnce), "");
  EXPECT_NE(summary({"--details"}).find("left open: 4 threads; it ran once in its process"), std::string::npos)
      << out_.str();
}

TEST_F(LeftOpen, InTheFirstRepetitionOnlyIsKeptOnce) {
  add("Pool.Starts", {{"7", "0", "1", "4"}, {"7", "1", "0"}, {"7", "2", "0"}});
  EXPECT_EQ(line(kOnce),
            "left open once in a process, by 1 test (--details has the descriptors): Pool.Starts: 1 descriptor, 4 "
            "threads");
  EXPECT_EQ(line(kAgain) + line(kUnknown), "");
  EXPECT_NE(summary({"--details"}).find("; only at its first run in a process: 1 descriptor, 4 threads"),
            std::string::npos)
      << out_.str();
  EXPECT_EQ(bench({"check"}, kBudget), 0) << out_.str();
}

TEST_F(LeftOpen, InEachRepetitionIsLeftAgain) {
  add("Log.Rotates", {{"7", "0", "1"}, {"7", "1", "1"}});
  EXPECT_EQ(line(kAgain),
            "left open again when repeated, by 1 test (--details has the descriptors): Log.Rotates: 1 descriptor");
  EXPECT_EQ(line(kOnce) + line(kUnknown), "");
  EXPECT_NE(summary({"--details"}).find("; in each of 2 repetitions"), std::string::npos) << out_.str();
  EXPECT_EQ(bench({"check"}, kBudget), 1);
}

TEST_F(LeftOpen, InALaterRepetitionOnlyIsLeftAgain) {
  add("Log.Rotates", {{"7", "0", "0"}, {"7", "1", "0"}, {"7", "2", "1"}});
  EXPECT_NE(line(kAgain), "");
  EXPECT_NE(summary({"--details"}).find("; not in each of 3 repetitions"), std::string::npos) << out_.str();
  EXPECT_EQ(bench({"check"}, kBudget), 1);
}

TEST_F(LeftOpen, OnceAndAgainAreApartInOneTest) {
  add("Loop.Runs", {{"7", "0", "6"}, {"7", "1", "2"}, {"7", "2", "2"}});
  EXPECT_NE(line(kAgain).find("Loop.Runs: 2 descriptors"), std::string::npos);
  EXPECT_NE(line(kOnce).find("Loop.Runs: 4 descriptors"), std::string::npos);
  EXPECT_NE(summary({"--details"})
                .find("again when repeated: 2 descriptors; only at its first run in a process: 4 descriptors"),
            std::string::npos)
      << out_.str();
  EXPECT_EQ(bench({"check"}, kBudget), 1);
  EXPECT_NE(out_.str().find("descriptors-left  2   at most 0"), std::string::npos) << out_.str();
}

TEST_F(LeftOpen, InProcessesOfTheirOwnEachTimeIsTheFirst) {
  add("Pool.Starts", {{"7", "0", "1"}, {"8", "0", "1"}, {"9", "0", "1"}});
  EXPECT_NE(line(kUnknown), "");
  EXPECT_EQ(line(kAgain) + line(kOnce), "");
  EXPECT_EQ(bench({"check"}, kBudget), 1);
  EXPECT_NE(out_.str().find("1, perhaps once in its process"), std::string::npos) << out_.str();
}

TEST_F(LeftOpen, WhatARepeatedProcessDoesNotExplainStaysInDoubt) {
  // The second process ends after one repetition, and left more than the first one ever did.
  add("Pool.Starts", {{"7", "0", "1"}, {"7", "1", "0"}, {"8", "0", "5"}});
  EXPECT_NE(line(kOnce).find("Pool.Starts: 1 descriptor"), std::string::npos);
  EXPECT_NE(line(kUnknown).find("Pool.Starts: 5 descriptors"), std::string::npos);
  EXPECT_EQ(bench({"check"}, kBudget), 1);
}

TEST_F(LeftOpen, ARepetitionThatWasNotMeasuredDecidesNothing) {
  add("Pool.Starts", {{"7", "0", "1"}, {"7", "1", ""}});
  EXPECT_NE(line(kUnknown).find("Pool.Starts: 1 descriptor"), std::string::npos);
  EXPECT_EQ(line(kOnce), "");
}

TEST_F(LeftOpen, MoreTestsThanAreNamedAreCounted) {
  for (const char* test : {"A.A", "A.B", "A.C", "A.D", "A.E", "A.F"}) add(test, {{"7", "0", "1"}, {"7", "1", "0"}});
  EXPECT_EQ(line(kOnce).find("left open once in a process, by 6 tests"), 0U);
  EXPECT_NE(line(kOnce).find("; ..."), std::string::npos);
}

}  // namespace
}  // namespace syscost::bench
