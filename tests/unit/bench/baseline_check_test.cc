// SPDX-License-Identifier: MIT
//
// The verdicts of check against a baseline: more calls, new failures, shares that a test may grow by, outcomes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "baseline_file.h"
#include "csv_text.h"

namespace syscost::bench {
namespace {

TEST_F(BaselineFile, IsRedForOneMoreCallAndForANewErrno) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  EXPECT_EQ(check(make_run("same", 3, 5)), 0) << out_.str();
  EXPECT_EQ(check(make_run("more", 4, 5)), 1) << out_.str();
  EXPECT_EQ(check(make_run("errno", 3, 5, 1)), 1) << out_.str();
  EXPECT_EQ(check(make_run("fewer", 3, 4)), 0) << out_.str();
}

TEST_F(BaselineFile, HoldsWhatATestLeftOpen) {
  const auto run = [&](const std::string& id, const std::string& left) {
    const std::string name = path(id + ".csv");
    std::ofstream(name) << testing::header()
                        << testing::test_row({{"total_calls", "1"}, {"total_errors", "0"}, {"descriptors_left", left}})
                        << testing::syscall_row({{"calls", "1"}, {"errors", "0"}});
    return name;
  };
  ASSERT_EQ(update({run("none", "0")}), 0) << err_.str();
  EXPECT_EQ(check(run("none_again", "0")), 0) << out_.str();
  EXPECT_EQ(check(run("unknown", "")), 0) << out_.str();
  EXPECT_EQ(check(run("two", "2")), 1) << out_.str();
  ASSERT_EQ(update({run("unknown", "")}), 0) << err_.str();
  EXPECT_EQ(check(run("two", "2")), 0) << "what OLD left is not known: " << out_.str();
}

TEST_F(BaselineFile, IsRedForANewTestThatFails) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  for (const char* const outcome : {"passed", "skipped", "failed", ""}) {
    const std::string run = make_run("b", 3, 5);
    std::ofstream(run, std::ios::app) << testing::test_row(
        {{"run_id", "b"}, {"test", "S.New"}, {"outcome", outcome}, {"total_calls", "0"}});
    const bool is_good = outcome == std::string("passed") || outcome == std::string("skipped");
    EXPECT_EQ(check(run), is_good ? 0 : 1) << outcome << out_.str();
    EXPECT_EQ(check(run, {"--allow", "failed"}), 0) << outcome << out_.str();
  }
}

TEST_F(BaselineFile, LetsNoSyncGoForAShareOfCalls) {
  const auto run = [&](const std::string& file, const std::string& syncs) {
    const std::string name = path(file + ".csv");
    std::ofstream(name) << testing::header()
                        << testing::test_row(
                               {{"total_calls", std::to_string(100 + std::stoi(syncs))}, {"total_errors", "0"}})
                        << testing::syscall_row({{"calls", "100"}, {"errors", "0"}})
                        << testing::syscall_row({{"syscall", "fsync"}, {"calls", syncs}, {"errors", "0"}});
    return name;
  };
  ASSERT_EQ(update({run("a", "4")}), 0) << err_.str();
  for (const char* const syncs : {"3", "5"}) {
    EXPECT_EQ(check(run("b", syncs), {"--gate-counts", "10%"}), 1) << syncs << out_.str();
  }
}

TEST_F(BaselineFile, LetsTheCallsOfATestGrowByAShareWhereToldTo) {
  ASSERT_EQ(update({make_run("a", 3, 100)}), 0) << err_.str();
  EXPECT_EQ(check(make_run("more", 3, 110), {"--gate-counts", "10%"}), 0) << out_.str();
  EXPECT_EQ(check(make_run("most", 3, 111), {"--gate-counts", "10%"}), 1) << out_.str();
  EXPECT_EQ(check(make_run("errno", 3, 101, 1), {"--gate-counts", "10%"}), 1) << "a new errno stays one";
}

// Calls that came too early are no new failure.
TEST_F(BaselineFile, LetsCallsGrowByAShareBesideFailuresThatAreChance) {
  const auto make = [&](int writes, const std::string& errno_name) {
    std::ofstream file(path("early.csv"));
    file << testing::header() << testing::test_row({{"total_calls", std::to_string(writes + 20)}})
         << testing::syscall_row({{"calls", std::to_string(writes)}})
         << testing::syscall_row({{"syscall", "read"},
                                  {"calls", "20"},
                                  {"errors", errno_name.empty() ? "0" : "1"},
                                  {"errnos", errno_name.empty() ? "" : errno_name + ":1"}});
    return path("early.csv");
  };
  ASSERT_EQ(update({make(100, "")}), 0) << err_.str();
  EXPECT_EQ(check(make(101, "EAGAIN"), {"--gate-counts", "10%"}), 0) << out_.str();
  EXPECT_EQ(check(make(101, "EPIPE"), {"--gate-counts", "10%"}), 1) << out_.str();
  EXPECT_EQ(check(make(101, "EAGAIN")), 1) << out_.str();
}

/// A baseline of 100 calls of openat, ten of which fail, and ten per-run ones; a run of these.
struct Opens {
  int calls = 100;
  int errors = 10;
  int per_run = 10;

  std::string csv() const {
    const std::string all = std::to_string(calls + per_run);
    const std::string failed = std::to_string(errors);
    const testing::Cells key = {{"kind", "benchmark"}, {"test", "BM_Open"}};
    testing::Cells totals = key;
    totals.insert({{"iterations", "1"}, {"total_calls", all}, {"total_errors", failed}});
    testing::Cells cells = key;
    cells.insert({{"syscall", "openat"},
                  {"calls", all},
                  {"errors", failed},
                  {"errnos", "ENOENT:" + failed},
                  {"per_run_calls", std::to_string(per_run)},
                  {"per_run_errors", "0"}});
    return testing::header() + testing::test_row(totals) + testing::syscall_row(cells);
  }
};

TEST_F(BaselineFile, LetsErrorsAndPerRunCallsGrowByNoMoreThanTheShare) {
  const auto make = [&](const Opens& opens) {
    std::ofstream(path("opens.csv")) << opens.csv();
    return path("opens.csv");
  };
  ASSERT_EQ(update({make({})}), 0) << err_.str();
  ASSERT_EQ(check(make({}), {"--gate-counts", "10%"}), 0) << out_.str() << err_.str();
  EXPECT_EQ(check(make({.calls = 110}), {"--gate-counts", "10%"}), 0) << out_.str() << err_.str();
  EXPECT_EQ(check(make({.errors = 20}), {"--gate-counts", "10%"}), 0) << out_.str();
  EXPECT_NE(check(make({.errors = 21}), {"--gate-counts", "10%"}), 0) << "all of them fail: " << out_.str();
  EXPECT_EQ(check(make({.per_run = 11}), {"--gate-counts", "10%", "--all"}), 0) << out_.str();
  EXPECT_NE(out_.str().find("its calls grew by 10.0 %"), std::string::npos) << out_.str();
  EXPECT_EQ(check(make({.per_run = 12}), {"--gate-counts", "10%"}), 1) << out_.str();
}

TEST_F(BaselineFile, IsAskedForWhereTheRulesOfAFileAreAllThereIs) {
  const std::string file = make_run("a", 3, 5);
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  std::ofstream("syscost.toml") << "volatile = [\"getrandom\"]\n";
  EXPECT_EQ(run({"check", file}), 2) << "nothing was judged: " << out_.str();
  EXPECT_NE(err_.str().find("syscost.baseline: cannot be opened"), std::string::npos) << err_.str();
  std::ofstream("syscost.toml") << "[[budget]]\nmeasure = \"calls\"\nmax = 100\n";
  EXPECT_EQ(run({"check", file}), 0) << err_.str();
  EXPECT_EQ(run({"check", file, "--gate-counts", "10%"}), 2) << "10 % of what? " << out_.str();
  EXPECT_EQ(err_.str(), "bench: --gate-counts needs a baseline: --baseline FILE\n");
  fs::current_path(before);
}

TEST_F(BaselineFile, IsRedForAFailedTestAndIsNotMadeOfOne) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  const std::string before = text();
  const std::string failed = make_run("failed", 3, 5, 0, "failed");
  EXPECT_EQ(check(failed), 1) << out_.str();
  EXPECT_EQ(update({failed}), 2);
  EXPECT_EQ(check(failed, {"--update"}), 2);
  EXPECT_EQ(text(), before);
}

// Its set-up made no call in the baseline's run, so that there is no line of it.
TEST_F(BaselineFile, KnowsTestsThatAreMeantToFailWhereToldTo) {
  ASSERT_EQ(update({make_run("a", 3, 5, 0, "failed"), make_run("b", 3, 5, 0, "failed"), "--allow-failed"}), 0);
  EXPECT_NE(text().find("S.One\t-\twindow\ttest failed 2\n"), std::string::npos) << text();
  EXPECT_EQ(text().find("\twrite\t"), text().find("\twrite\tdesc")) << "no counts: " << text();
  EXPECT_EQ(check(make_run("c", 4, 5, 0, "failed")), 3) << "no test was judged: " << out_.str();
  EXPECT_EQ(check(make_run("c", 4, 5, 0, "failed"), {"--update"}), 0) << err_.str();
  EXPECT_NE(text().find("S.One\t-\twindow\ttest failed 2\n"), std::string::npos) << text();
  // One that passes has counts for the first time.
  EXPECT_EQ(check(make_run("d", 3, 5)), 0) << out_.str();
  EXPECT_NE(out_.str().find("2 new"), std::string::npos) << out_.str();
  ASSERT_EQ(check(make_run("d", 3, 5), {"--update"}), 0) << err_.str();
  EXPECT_EQ(check(make_run("e", 4, 5)), 1) << out_.str();
  EXPECT_EQ(check(make_run("f", 3, 5, 0, "failed")), 1) << out_.str();
}

TEST_F(BaselineFile, IsRedForTheFirstCallOfASetUp) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  const std::string file = make_run("more", 3, 5);
  const testing::Cells key = {{"run_id", "more"}, {"kind", "suite"}, {"test", "S"}, {"window", "set-up"}};
  testing::Cells totals = key;
  totals.insert({{"total_calls", "1"}, {"total_entries", "1"}});
  testing::Cells cells = key;
  cells.insert({{"calls", "1"}, {"entries", "1"}});
  std::ofstream(file, std::ios::app) << testing::test_row(totals) << testing::syscall_row(cells);
  EXPECT_EQ(check(file), 1) << out_.str();
  ASSERT_EQ(update({file}), 0) << err_.str();
  EXPECT_EQ(check(file), 0) << out_.str();
  EXPECT_EQ(check(path("a.csv")), 0) << "one without calls is not missing: " << out_.str();
}

TEST_F(BaselineFile, DoesNotJudgeATestThatIsSkippedNowAndThen) {
  ASSERT_EQ(update({make_run("a", 3, 5), make_run("b", 1, 1, 0, "skipped")}), 0) << err_.str();
  EXPECT_NE(text().find("tests\tS.One\t-\twindow\ttest varies 2\n"), std::string::npos) << text();
  EXPECT_EQ(check(path("a.csv")), 3) << "no test was judged: " << out_.str();
  EXPECT_EQ(check(path("b.csv")), 3) << out_.str();
}

}  // namespace
}  // namespace syscost::bench
