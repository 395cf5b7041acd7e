// SPDX-License-Identifier: MIT
//
// Calls of threads that are older than a test are judged for the program: in which test they fall is chance.
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

using ::syscost::testing::TemporaryFolder;
using testing::Cells;

/// A window that made calls of write: by its own thread, by threads that began in it, and by older ones.
struct Made {
  std::string kind;
  std::string test;
  int own = 0;
  int started = 0;
  int older = 0;
};

std::string rows_of_program(const std::string& run, const std::vector<Made>& windows, const std::string& lost = "0") {
  std::string text = testing::run_row({{"run_id", run}});
  for (const Made& one : windows) {
    const std::string all = std::to_string(one.own + one.started + one.older);
    Cells totals = {{"run_id", run},        {"kind", one.kind},   {"test", one.test}, {"window", ""},
                    {"total_entries", all}, {"total_calls", all}, {"lost", lost},     {"outcome", "passed"}};
    if (one.kind != "test") totals["outcome"] = "";
    text += testing::test_row(totals);
    if (all == "0") continue;
    Cells calls = {{"run_id", run},
                   {"kind", one.kind},
                   {"test", one.test},
                   {"syscall", "write"},
                   {"class", "desc"},
                   {"entries", all},
                   {"calls", all},
                   {"errors", "0"},
                   {"by_started_threads", std::to_string(one.started)},
                   {"by_older_threads", std::to_string(one.older)}};
    text += testing::syscall_row(calls);
  }
  return text;
}

class OlderThreads : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    std::ofstream(folder_.file(name)) << testing::header() << content;
    return folder_.file(name);
  }
  /// Exit code; out_ has the output.
  int run(const std::vector<std::string>& args) {
    out_.str("");
    std::ostringstream err;
    const int code = bench_main(args, out_, err);
    err_ = err.str();
    return code;
  }
  std::string compared(const std::vector<Made>& before, const std::vector<Made>& after) {
    const std::string older = file("old.csv", rows_of_program("old", before));
    run({"compare", older, file("new.csv", rows_of_program("new", after))});
    return out_.str() + err_;
  }

  TemporaryFolder folder_;
  std::ostringstream out_;
  std::string err_;
};

const std::vector<Made> kBefore = {{"test", "S.One", 3, 0, 2}, {"test", "S.Two", 4, 0, 1}, {"between", "", 5, 1, 2}};

TEST_F(OlderThreads, MayMakeTheirCallsInAnyTestOrBetweenTwo) {
  const std::string text =
      compared(kBefore, {{"test", "S.One", 3, 0, 0}, {"test", "S.Two", 4, 0, 4}, {"between", "", 9, 1, 1}});
  EXPECT_NE(text.find("counts: 2 same"), std::string::npos) << text;
  EXPECT_EQ(text.find("older threads"), std::string::npos) << text;
}

TEST_F(OlderThreads, AreInDoubtAsARowOfTheProgramIfTheirSumDiffers) {
  const std::string text =
      compared(kBefore, {{"test", "S.One", 3, 0, 2}, {"test", "S.Two", 4, 0, 2}, {"between", "", 5, 1, 2}});
  EXPECT_NE(text.find("counts: 1 in doubt, 2 same"), std::string::npos) << text;
  EXPECT_NE(text.find("tests, older threads"), std::string::npos) << text;
  EXPECT_NE(text.find("+1 write"), std::string::npos) << text;
  EXPECT_NE(text.find("exit code 0"), std::string::npos) << text;
}

TEST_F(OlderThreads, DoNotHideWhatATestDoesItself) {
  const std::string text =
      compared(kBefore, {{"test", "S.One", 4, 0, 1}, {"test", "S.Two", 4, 0, 2}, {"between", "", 5, 1, 2}});
  EXPECT_NE(text.find("counts: 1 in doubt, 1 same"), std::string::npos) << text;
  EXPECT_NE(text.find("S.One"), std::string::npos) << text;
}

TEST_F(OlderThreads, OfASetUpAreThoseThatItStartedToo) {
  const std::string text =
      compared({{"environment", "", 3, 4, 0}, {"test", "S.One", 3, 0, 2}, {"between", "", 5, 0, 2}},
               {{"environment", "", 3, 2, 0}, {"test", "S.One", 3, 0, 3}, {"between", "", 5, 0, 3}});
  EXPECT_NE(text.find("counts: 2 same"), std::string::npos) << text;
}

TEST_F(OlderThreads, AreTheTestsAffairIfAProgramDoesNotSayWhatLiesBetween) {
  const std::vector<Made> before = {{"test", "S.One", 3, 0, 2}, {"test", "S.Two", 4, 0, 1}};
  const std::string text = compared(before, {{"test", "S.One", 3, 0, 1}, {"test", "S.Two", 4, 0, 2}});
  EXPECT_NE(text.find("counts: 2 in doubt"), std::string::npos) << text;
}

TEST_F(OlderThreads, AreTheTestsAffairIfEventsWereLostOrATestIsNew) {
  const std::vector<Made> after = {{"test", "S.One", 3, 0, 1}, {"test", "S.Two", 4, 0, 2}, {"between", "", 5, 1, 2}};
  std::vector<Made> with_new = after;
  with_new.push_back({"test", "S.Three", 1, 0, 1});
  EXPECT_NE(compared(kBefore, with_new).find("2 in doubt, 1 new"), std::string::npos) << out_.str();
  const std::string between = rows_of_program("new", {after.back()}, "1");
  const std::string older = file("old.csv", rows_of_program("old", kBefore));
  run({"compare", older, file("new.csv", rows_of_program("new", {after[0], after[1]}) + between)});
  EXPECT_NE(out_.str().find("2 in doubt"), std::string::npos) << out_.str();
}

TEST_F(OlderThreads, AreDecidedByRunsOfBothSides) {
  std::string before;
  std::string after;
  for (int i = 0; i < 8; ++i) {
    const int in_one = i % 3;
    const std::string run = std::to_string(i);
    before += rows_of_program("old" + run, {{"test", "S.One", 3, 0, in_one}, {"between", "", 5, 0, 20 - in_one}});
    after += rows_of_program("new" + run, {{"test", "S.One", 3, 0, 2 - in_one}, {"between", "", 5, 0, 19 + in_one}});
  }
  EXPECT_EQ(run({"compare", file("old.csv", before), file("new.csv", after), "--all-runs"}), 1);
  EXPECT_NE(out_.str().find("1 regressed, 1 same"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("tests, older threads"), std::string::npos) << out_.str();
}

TEST_F(OlderThreads, AreRunAgainUntilTheirSumIsDecided) {
  const std::string older = file("old.csv", rows_of_program("old", kBefore));
  const std::vector<Made> more = {{"test", "S.One", 3, 0, 2}, {"test", "S.Two", 4, 0, 2}, {"between", "", 5, 1, 2}};
  const std::string newer = file("new.csv", rows_of_program("new", more));
  const std::string as_before = file("further.csv", rows_of_program("new", kBefore));
  const std::string command = "cp " + as_before + " $SYSCOST_CSV";
  EXPECT_EQ(run({"compare", older, newer, "--old", command, "--new", command}), 0);
  // A coin chooses the sides, so that it is not known how soon they tell.
  EXPECT_NE((out_.str() + err_).find("of 1 test decided"), std::string::npos) << out_.str() << err_;
  EXPECT_EQ(out_.str().find("regressed"), std::string::npos) << out_.str();
}

TEST_F(OlderThreads, AreInABaselineToo) {
  const std::string baseline = folder_.file("it.baseline");
  ASSERT_EQ(run({"baseline", "update", "-o", baseline, file("old.csv", rows_of_program("old", kBefore))}), 0) << err_;
  const auto checked = [&](const std::vector<Made>& after) {
    run({"check", file("new.csv", rows_of_program("new", after)), "--baseline", baseline});
    return out_.str() + err_;
  };
  const std::string moved = checked({{"test", "S.One", 3, 0, 0}, {"test", "S.Two", 4, 0, 4}, {"between", "", 9, 1, 1}});
  EXPECT_NE(moved.find("2 same"), std::string::npos) << moved;
  const std::string more = checked({{"test", "S.One", 3, 0, 2}, {"test", "S.Two", 4, 0, 2}, {"between", "", 5, 1, 2}});
  EXPECT_NE(more.find("tests, older threads"), std::string::npos) << more;
  EXPECT_NE(more.find("1 in doubt"), std::string::npos) << more;
  run({"check", file("new.csv", rows_of_program("new", {kBefore[0], {"test", "S.Two", 4, 0, 2}, kBefore[2]})),
       "--baseline", baseline, "--update"});
  const std::string updated =
      checked({{"test", "S.One", 3, 0, 4}, {"test", "S.Two", 4, 0, 0}, {"between", "", 5, 1, 2}});
  EXPECT_NE(updated.find("2 same"), std::string::npos) << updated;
}

TEST_F(OlderThreads, WhatLiesBetweenIsNoTest) {
  const std::string csv = file("one.csv", rows_of_program("one", kBefore));
  EXPECT_EQ(run({"summary", csv, "--format", "csv"}), 0);
  EXPECT_EQ(out_.str().find("between"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"summary", csv, "--details"}), 0);
  EXPECT_NE(out_.str().find("between tests  8 write\n"), std::string::npos) << out_.str();
}

}  // namespace
}  // namespace syscost::bench
