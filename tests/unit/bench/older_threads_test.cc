// SPDX-License-Identifier: MIT
//
// Calls of threads that are older than a test: they are the program's, in compare, in a baseline and in check.
#include <gtest/gtest.h>

#include <string>

#include "baseline_file.h"

namespace syscost::bench {
namespace {

/// What a run of `store_tests` does in each of its tests, of which there are two unless it is partial.
struct StoreRun {
  int own = 3;          ///< write
  int older = 5;        ///< write by a server thread
  int between = 4;      ///< The same between tests.
  int too_early = 0;    ///< Of the writes in a test, how many failed with EAGAIN.
  bool tells = true;    ///< The columns say who made the calls.
  bool has_end = true;  ///< The process came to its end.
  bool is_partial = false;
};

class OlderThreads : public BaselineFile {
 protected:
  std::string make(const std::string& id, const StoreRun& run) {
    std::ofstream file(path(id + ".csv"));
    file << testing::header();
    const testing::Cells key = {{"run_id", id}, {"program", "store_tests"}};
    const auto window = [&](testing::Cells cells, int own, int older, int failed) {
      cells.insert(key.begin(), key.end());
      const std::string all = std::to_string(own + older);
      testing::Cells totals = cells;
      totals.insert({{"total_entries", all}, {"total_calls", all}, {"total_errors", std::to_string(failed)}});
      file << testing::test_row(totals);
      cells.insert({{"entries", all}, {"calls", all}, {"errors", std::to_string(failed)}});
      if (failed > 0) cells.emplace("errnos", "EAGAIN:" + std::to_string(failed));
      if (run.tells) cells.insert({{"by_started_threads", "0"}, {"by_older_threads", std::to_string(older)}});
      if (own + older > 0) file << testing::syscall_row(cells);
    };
    window({{"test", "Store.Opens"}}, run.own, run.older, run.too_early);
    if (!run.is_partial) window({{"test", "Store.Closes"}}, run.own, run.older, run.too_early);
    if (run.has_end) {
      window({{"kind", "between"}, {"test", ""}, {"outcome", ""}}, 1, run.between, 0);
      file << testing::run_row({{"run_id", id}, {"program", "store_tests"}, {"window", "end"}});
    }
    return path(id + ".csv");
  }
  int compare(const StoreRun& before, const StoreRun& after, const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"compare", make("old", before), make("new", after), "--all"};
    args.insert(args.end(), more.begin(), more.end());
    return run(args);
  }
  /// How the row of the table that begins with `name` ends; "" if there is none.
  std::string row(const std::string& name) const {
    std::istringstream lines(out_.str());
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(name)) return line.substr(name.size());
    }
    return "";
  }
};

const char* const kProgram = "store_tests (older threads)";

TEST_F(OlderThreads, LeaveTheVerdictOfTheTest) {
  EXPECT_EQ(compare({}, {.older = 500}), 0) << out_.str() << err_.str();
  EXPECT_NE(row("Store.Opens").find(" 3  "), std::string::npos) << out_.str();
  EXPECT_NE(row("Store.Opens").find("same"), std::string::npos) << out_.str();
  EXPECT_NE(row(kProgram).find("14 -> 1004 entries"), std::string::npos) << out_.str();
  EXPECT_NE(row(kProgram).find("+990 write  in doubt: other threads made calls"), std::string::npos) << out_.str();
}

// The server closes in a test, or between two.
TEST_F(OlderThreads, MayMakeTheirCallsInAnotherWindow) {
  EXPECT_EQ(compare({.older = 5, .between = 4}, {.older = 0, .between = 14}), 0);
  EXPECT_NE(row(kProgram).find("14 entries"), std::string::npos) << out_.str();
  EXPECT_NE(row(kProgram).find("same"), std::string::npos) << out_.str();
  EXPECT_NE(row("Store.Closes").find("same"), std::string::npos) << out_.str();
}

TEST_F(OlderThreads, LeaveTheTestsOwnChangesInDoubt) {
  EXPECT_EQ(compare({}, {.own = 4}), 0) << "a test that works with another thread may do so by chance";
  EXPECT_NE(row("Store.Opens").find("+1 write  in doubt"), std::string::npos) << out_.str();
}

TEST_F(OlderThreads, TakeTheirFailuresAlong) {
  EXPECT_EQ(compare({}, {.older = 9, .too_early = 4}), 0);
  EXPECT_NE(row("Store.Opens").find("same"), std::string::npos) << out_.str();
}

TEST_F(OlderThreads, AreNewInAProgramThatHadNone) {
  EXPECT_EQ(compare({.older = 0, .between = 0}, {}), 0);
  EXPECT_NE(row(kProgram).find("+14 write  in doubt"), std::string::npos) << out_.str();
  EXPECT_EQ(compare({.older = 0, .between = 0}, {.older = 0, .between = 0}), 0);
  EXPECT_EQ(row(kProgram), "") << "no such calls";
}

TEST_F(OlderThreads, AreNotComparedIfOtherTestsRan) {
  EXPECT_EQ(compare({}, {.is_partial = true}, {"--allow", "missing"}), 0) << out_.str() << err_.str();
  EXPECT_NE(row(kProgram).find("incomparable: other tests ran than in OLD"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("1 of 2 tests could not be compared: other tests ran than in OLD: store_tests"),
            std::string::npos)
      << out_.str();
}

TEST_F(OlderThreads, StayInTheTestIfASideDoesNotTellThem) {
  for (const StoreRun& after : {StoreRun{.older = 6, .tells = false}, StoreRun{.older = 6, .has_end = false}}) {
    compare({}, after);
    EXPECT_EQ(row(kProgram), "");
    EXPECT_NE(row("Store.Opens").find("8 -> 9"), std::string::npos) << out_.str();
  }
}

TEST_F(OlderThreads, AreNoProgramsIfTestsAreChosen) {
  EXPECT_EQ(compare({}, {.older = 500}, {"--test", "Store.Opens"}), 0) << err_.str();
  EXPECT_EQ(row(kProgram), "");
  EXPECT_NE(out_.str().find("same"), std::string::npos) << out_.str();
}

TEST_F(OlderThreads, HaveLinesOfTheProgramInABaseline) {
  ASSERT_EQ(update({make("a", {}), make("b", {.older = 6})}), 0) << err_.str();
  const std::string key = std::string("store_tests\t") + kProgram + '\t';
  EXPECT_NE(text().find(key + "-\twindow\tbetween - 2 several_threads\n"), std::string::npos) << text();
  EXPECT_NE(text().find(key + "write\tentries\t14..15..16\n"), std::string::npos) << text();
  EXPECT_NE(text().find("store_tests\tStore.Opens\twrite\tcalls\t3\n"), std::string::npos) << text();
  EXPECT_EQ(check(make("c", {.older = 500})), 0) << out_.str() << err_.str();
  EXPECT_NE(row(kProgram).find("in doubt"), std::string::npos) << out_.str();
  EXPECT_EQ(check(make("d", {.older = 6}), {"--all"}), 0) << out_.str();
  EXPECT_NE(row("Store.Opens").find("same"), std::string::npos) << out_.str();
  EXPECT_EQ(check(make("e", {.tells = false}), {"--all"}), 3) << out_.str();
  EXPECT_NE(row("Store.Opens").find("incomparable: NEW does not tell"), std::string::npos) << out_.str();
}

TEST_F(OlderThreads, CanBeAccepted) {
  std::ofstream(path("syscost.toml")) << "[[accept]]\ntest = \"store_tests (older threads)\"\nreason = \"it polls\"\n";
  EXPECT_EQ(compare({}, {.older = 500}, {"--config", path("syscost.toml")}), 0) << out_.str() << err_.str();
  EXPECT_NE(row(kProgram).find("accepted"), std::string::npos) << out_.str() << err_.str();
}

TEST_F(OlderThreads, AreACaseForMachines) {
  compare({}, {.older = 500}, {"--format", "json"});
  EXPECT_NE(out_.str().find("\"test\": \"store_tests (older threads)\""), std::string::npos) << out_.str();
  compare({}, {.older = 500}, {"--format", "junit"});
  EXPECT_NE(out_.str().find("classname=\"store_tests\" name=\"store_tests (older threads)\""), std::string::npos)
      << out_.str();
}

TEST_F(OlderThreads, CountForLimitsOfATest) {
  ASSERT_EQ(update({make("a", {})}), 0) << err_.str();
  std::ofstream(path("limits.toml")) << "[[budget]]\nmeasure = \"calls\"\nmax = 4\n";
  EXPECT_EQ(check(make("b", {}), {"--budgets", path("limits.toml")}), 1) << out_.str() << err_.str();
  EXPECT_NE(out_.str().find("8"), std::string::npos) << out_.str();
}

}  // namespace
}  // namespace syscost::bench
