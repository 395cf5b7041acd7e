// SPDX-License-Identifier: MIT
//
// baseline and check on files of their own: what is written, that it says what the run said, and that a change of one
// test is a diff of that test. What check prints is tested in tests/cli.
#include "model/baseline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "bench.h"
#include "commands/baseline.h"
#include "csv_text.h"
#include "model/group.h"
#include "model/loader.h"
#include "stats/baseline_windows.h"
#include "stats/verdict.h"

namespace syscost::bench {
namespace {

namespace fs = std::filesystem;

model::Dataset load_data(const std::string& file) {
  csv::Problems problems;
  model::LoadOptions options;
  options.is_printable = true;
  return model::load((fs::path(SYSCOST_SOURCE_DIR) / "tests/cli/data" / file).string(), options, problems);
}

class BaselineOf : public ::testing::TestWithParam<const char*> {};

// The judge must not see whether a window comes from a CSV or from the lines of a baseline.
TEST_P(BaselineOf, SaysWhatTheRunSaid) {
  model::Dataset data = load_data(GetParam());
  const auto groups = model::group_samples(data, model::Tools::left_out);
  const auto windows = stats::summarize_all(data, groups, true);
  ASSERT_FALSE(windows.empty());
  model::Baseline written;
  written.surroundings = {{"filter", ""}};
  std::size_t judged = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (!stats::fault_of(windows[i]).text.empty()) continue;
    written.windows.push_back(
        stats::to_baseline(windows[i], data.text(groups[i].program), model::base_name(data, groups[i])));
  }
  csv::Problems problems;
  const auto read = model::parse_baseline("it", model::to_text(written), problems);
  ASSERT_TRUE(read.has_value()) << model::to_text(written);
  ASSERT_EQ(read->windows.size(), written.windows.size());
  for (const model::BaselineWindow& line : read->windows) {
    const stats::WindowSummary from_file = stats::from_baseline(*read, line);
    for (std::size_t i = 0; i < windows.size(); ++i) {
      if (model::base_name(data, groups[i]) != line.name || data.text(groups[i].program) != line.program) continue;
      const stats::Comparison row = stats::compare_windows(&from_file, &windows[i], {});
      EXPECT_EQ(stats::to_string(row.verdict), "same") << line.name << ": " << row.reason;
      EXPECT_EQ(row.deltas.size(), 0U) << line.name;
      ++judged;
    }
  }
  EXPECT_EQ(judged, written.windows.size());
}

INSTANTIATE_TEST_SUITE_P(Files, BaselineOf,
                         ::testing::Values("main.csv", "loops.csv", "per_run_1000.csv", "details.csv", "seccomp.csv",
                                           "same_name.csv", "times_old.csv", "benchmark_old.csv", "injected_some.csv"),
                         [](const auto& tested) {
                           const std::string file = tested.param;
                           return file.substr(0, file.find('.'));
                         });

class BaselineFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "bench-baseline-test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string baseline() const { return path("it.baseline"); }
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(baseline()).rdbuf();
    return all.str();
  }

  /// A run with two tests: One makes `one` calls of write, Two makes `two`, `fails` of them with ENOENT.
  /// One lost `lost` events.
  std::string make_run(const std::string& id, int one, int two, int fails = 0, const std::string& outcome = "passed",
                       int lost = 0) {
    std::ofstream file(path(id + ".csv"));
    file << testing::header();
    for (const auto& [test, calls, errors] : {std::tuple("S.One", one, 0), std::tuple("S.Two", two, fails)}) {
      const std::string count = std::to_string(calls);
      const testing::Cells key = {{"run_id", id}, {"test", test}};
      testing::Cells totals = key;
      totals.insert({{"total_calls", count}, {"total_entries", count}, {"outcome", outcome}});
      totals.emplace("lost", std::to_string(test == std::string("S.One") ? lost : 0));
      testing::Cells cells = key;
      cells.insert({{"calls", count}, {"entries", count}, {"errors", std::to_string(errors)}});
      if (errors > 0) cells.emplace("errnos", "ENOENT:" + std::to_string(errors));
      file << testing::test_row(totals);
      if (calls > 0) file << testing::syscall_row(cells);
    }
    return path(id + ".csv");
  }

  /// The run in `file` as a backend writes it that does not measure `columns`.
  std::string without(const std::string& file, const std::string& id, const std::set<std::string>& columns) {
    std::ifstream from(file);
    std::ofstream to(path(id + ".csv"));
    std::vector<std::string> names;
    for (std::string line; std::getline(from, line);) {
      std::istringstream cells(line);
      std::string out;
      std::size_t i = 0;
      for (std::string cell; std::getline(cells, cell, ','); ++i) {
        const bool is_header = i == names.size();
        if (is_header) names.push_back(cell);
        out += (i == 0 ? "" : ",") + (!is_header && columns.contains(names[i]) ? "" : cell);
      }
      to << out << '\n';
    }
    return path(id + ".csv");
  }

  /// The run in `file`, without counts of the calls of `tests`.
  std::string uncounted(const std::string& file, const std::string& id, const std::set<std::string>& tests) {
    const std::string voided = without(file, id + "_all", {"total_calls", "total_entries", "total_errors"});
    std::ifstream whole(file);
    std::ifstream cut(voided);
    std::ofstream to(path(id + ".csv"));
    for (std::string line, other; std::getline(whole, line) && std::getline(cut, other);) {
      const bool is_cut = std::any_of(tests.begin(), tests.end(),
                                      [&](const std::string& test) { return line.find(test) != std::string::npos; });
      const bool has_syscall = line.find(",write,") != std::string::npos;
      if (!is_cut) to << line << '\n';
      if (is_cut && !has_syscall) to << other << '\n';
    }
    return path(id + ".csv");
  }

  int run(const std::vector<std::string>& args) {
    out_.str("");
    err_.str("");
    return bench_main(args, out_, err_);
  }
  int update(const std::vector<std::string>& runs) {
    std::vector<std::string> args = {"baseline", "update", "-o", baseline()};
    args.insert(args.end(), runs.begin(), runs.end());
    return run(args);
  }
  int check(const std::string& file, const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"check", file, "--baseline", baseline()};
    args.insert(args.end(), more.begin(), more.end());
    return run(args);
  }

  fs::path folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(BaselineFile, HasALineForEachCountInOneOrder) {
  ASSERT_EQ(update({make_run("a", 3, 5, 1), make_run("b", 3, 7, 1)}), 0) << err_.str();
  const std::string all = text();
  EXPECT_EQ(all.substr(all.find("\n\n") + 2),
            "tests\tS.One\t-\twindow\ttest passed 2\n"
            "tests\tS.One\t-\tcalls\t3\n"
            "tests\tS.One\twrite\tcalls\t3\n"
            "tests\tS.Two\t-\twindow\ttest passed 2\n"
            "tests\tS.Two\t-\tcalls\t5..6..7\n"
            "tests\tS.Two\twrite\tcalls\t5..6..7\n"
            "tests\tS.Two\twrite\tENOENT\t1\n");
  ASSERT_EQ(update({path("b.csv"), path("a.csv")}), 0);
  EXPECT_EQ(text(), all) << "the order of the runs is not seen";
}

TEST_F(BaselineFile, OfTheExampleIsTheOneThatTheGoldenTestsCheckAgainst) {
  const fs::path data = fs::path(SYSCOST_SOURCE_DIR) / "tests/cli/data";
  ASSERT_EQ(update({(data / "main.csv").string()}), 0) << err_.str();
  std::ostringstream committed;
  committed << std::ifstream(data / "main.baseline").rdbuf();
  EXPECT_EQ(text(), committed.str());
}

TEST_F(BaselineFile, IsRedForOneMoreCallAndForANewErrno) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  EXPECT_EQ(check(make_run("same", 3, 5)), 0) << out_.str();
  EXPECT_EQ(check(make_run("more", 4, 5)), 1) << out_.str();
  EXPECT_EQ(check(make_run("errno", 3, 5, 1)), 1) << out_.str();
  EXPECT_EQ(check(make_run("fewer", 3, 4)), 0) << out_.str();
}

TEST_F(BaselineFile, LetsTheCallsOfATestGrowByAShareWhereToldTo) {
  ASSERT_EQ(update({make_run("a", 3, 100)}), 0) << err_.str();
  EXPECT_EQ(check(make_run("more", 3, 110), {"--gate-counts", "10%"}), 0) << out_.str();
  EXPECT_EQ(check(make_run("most", 3, 111), {"--gate-counts", "10%"}), 1) << out_.str();
  EXPECT_EQ(check(make_run("errno", 3, 101, 1), {"--gate-counts", "10%"}), 1) << "a new errno stays one";
}

// In a test that waits, calls that came too early are no new failure.
TEST_F(BaselineFile, LetsCallsGrowByAShareBesideFailuresThatAreChance) {
  const auto make = [&](int writes, const std::string& errno_name) {
    std::ofstream file(path("early.csv"));
    file << testing::header() << testing::test_row({{"total_calls", std::to_string(writes + 40)}})
         << testing::syscall_row({{"calls", std::to_string(writes)}})
         << testing::syscall_row({{"syscall", "read"},
                                  {"calls", "20"},
                                  {"errors", errno_name.empty() ? "0" : "1"},
                                  {"errnos", errno_name.empty() ? "" : errno_name + ":1"}})
         << testing::syscall_row({{"syscall", "futex"}, {"class", "wait;volatile"}, {"calls", "20"}});
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

TEST_F(BaselineFile, HoldsTimesWhereToldTo) {
  ASSERT_EQ(update({make_run("a", 3, 5), "--times"}), 0) << err_.str();
  EXPECT_NE(text().find("tests\tS.One\t-\twall_ns\t1000\n"), std::string::npos) << text();
  EXPECT_EQ(check(path("a.csv")), 0) << "times are no counts";
  ASSERT_EQ(check(make_run("more", 4, 5), {"--update"}), 0) << err_.str();
  EXPECT_NE(text().find("tests\tS.One\t-\twall_ns\t1000\n"), std::string::npos) << "as before";
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

// One program with lost events must not keep all others from having a baseline.
TEST_F(BaselineFile, TakesATestWithLostEventsWithoutCountsWhereToldTo) {
  const std::string lost = make_run("lost", 3, 5, 0, "passed", 6);
  ASSERT_EQ(update({lost}), 2);
  EXPECT_NE(err_.str().find("S.One cannot be a baseline: 6 events of it were lost or late"), std::string::npos);
  EXPECT_NE(err_.str().find("no baseline was written; --allow-lost writes such tests without counts"),
            std::string::npos)
      << err_.str();
  ASSERT_EQ(update({lost, "--allow-failed"}), 2) << "another reason";
  ASSERT_EQ(update({lost, "--allow-lost"}), 0) << err_.str();
  EXPECT_NE(out_.str().find("1 window without counts, which check does not judge: S.One\n"), std::string::npos)
      << out_.str();
  EXPECT_NE(text().find("tests\tS.One\t-\twindow\ttest lost 1\ntests\tS.Two"), std::string::npos) << text();
  // It loses events again: no other count of it is known, so it is not judged, and check says that.
  EXPECT_EQ(check(make_run("again", 9, 5, 0, "passed", 1)), 0) << out_.str();
  EXPECT_NE(out_.str().find("1 test failed or lost events when the baseline was made, so its counts are not judged"),
            std::string::npos)
      << out_.str();
  EXPECT_EQ(check(make_run("more", 3, 6, 0, "passed", 1)), 1) << "the other test is judged: " << out_.str();
  EXPECT_EQ(check(make_run("failed", 3, 5, 0, "failed", 1)), 1) << "a failure is red: " << out_.str();
  // It has counts for the first time.
  EXPECT_EQ(check(make_run("whole", 3, 5)), 0) << out_.str();
  EXPECT_NE(out_.str().find("1 new, 1 same"), std::string::npos) << out_.str();
  EXPECT_EQ(check(path("whole.csv"), {"--all"}), 0);
  EXPECT_NE(out_.str().find("its counts were lost or missing when the baseline was made"), std::string::npos);
  ASSERT_EQ(check(path("whole.csv"), {"--update"}), 0) << err_.str();
  EXPECT_EQ(check(make_run("four", 4, 5)), 1) << out_.str();
}

TEST_F(BaselineFile, NamesTheOptionsForTestsThatCannotBeInIt) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  EXPECT_EQ(check(make_run("lost", 4, 5, 0, "passed", 1), {"--update"}), 2);
  EXPECT_NE(err_.str().find("; --allow-lost writes such tests"), std::string::npos) << err_.str();
  EXPECT_EQ(check(path("lost.csv"), {"--allow-lost"}), 2) << "nothing is written";
  EXPECT_EQ(check(path("lost.csv"), {"--update", "--allow-lost"}), 0) << err_.str();
  EXPECT_NE(text().find("test lost 1"), std::string::npos) << text();
  ASSERT_EQ(update({make_run("failed", 3, 5, 0, "failed")}), 2);
  EXPECT_NE(err_.str().find("; --allow-failed writes such tests"), std::string::npos) << err_.str();
}

// Backends that count calls, and one that counts entries and sees no results.
TEST_F(BaselineFile, ComparesEntriesWithARunThatHasNoCalls) {
  const std::string whole = make_run("whole", 3, 5, 1);
  ASSERT_EQ(update({whole}), 0) << err_.str();
  EXPECT_NE(text().find("measured\tcalls errors entries\n"), std::string::npos) << text();
  const std::string entries = without(whole, "entries", {"calls", "total_calls", "errors", "errnos"});
  EXPECT_EQ(check(entries), 0) << out_.str();
  EXPECT_NE(out_.str().find("which calls fail was measured in the baseline alone, so failed calls of 2 tests"),
            std::string::npos)
      << out_.str();
  EXPECT_EQ(check(without(make_run("more", 4, 5), "fewer", {"calls", "total_calls", "errors", "errnos"})), 1);
  // The other way round there is no errno that is new.
  ASSERT_EQ(update({entries}), 0) << err_.str();
  EXPECT_EQ(check(whole), 0) << out_.str();
  EXPECT_EQ(check(path("more.csv")), 1) << out_.str();
}

TEST_F(BaselineFile, JudgesNothingWhereNoCountIsOnBothSides) {
  const std::string whole = make_run("whole", 3, 5);
  const std::string calls = without(whole, "calls", {"entries", "total_entries"});
  const std::string entries = without(whole, "entries", {"calls", "total_calls", "errors"});
  ASSERT_EQ(update({calls}), 0) << err_.str();
  EXPECT_EQ(text().find("measured"), std::string::npos) << "as older files";
  EXPECT_EQ(check(entries), 3) << out_.str();
  EXPECT_EQ(
      out_.str().find("not judged: 2 of 2 tests could not be compared: the baseline counted calls, the run entries:"),
      0U)
      << out_.str();
  EXPECT_EQ(run({"compare", calls, entries}), 3) << "compare agrees: " << out_.str();
  EXPECT_EQ(
      out_.str().find("verdict: no answer, exit code 3: 2 of 2 tests could not be compared: OLD counted calls, NEW "
                      "entries"),
      0U)
      << out_.str();
  EXPECT_EQ(run({"compare", calls, entries, "--gate", "none"}), 0);
  EXPECT_EQ(run({"compare", calls, whole}), 0) << out_.str();
}

// For example a test with a sandbox of its own: a test without counts must not take the verdict from all others.
TEST_F(BaselineFile, OneTestWithoutCountsLeavesTheVerdictToTheOthers) {
  const std::string old_run = make_run("old", 3, 5);
  const std::string same = uncounted(make_run("same", 3, 5), "same_void", {"S.One"});
  const std::string grown = uncounted(make_run("grown", 3, 6), "grown_void", {"S.One"});
  const std::string none = uncounted(make_run("none", 3, 5), "none_void", {"S.One", "S.Two"});
  ASSERT_EQ(update({old_run}), 0) << err_.str();
  const std::string part = "1 of 2 tests could not be compared: 1 of 1 repetitions of ";
  const auto says = [&](const std::string& line) {
    return out_.str().substr(0, out_.str().find('\n')).find(line) == 0;
  };

  EXPECT_EQ(run({"compare", old_run, same}), 0);
  EXPECT_TRUE(says("verdict: ok, exit code 0: no test fails (counts); " + part + "NEW were not counted: S.One"))
      << out_.str();
  EXPECT_EQ(run({"compare", uncounted(old_run, "old_void", {"S.One"}), same}), 0) << "on both sides: " << out_.str();
  EXPECT_EQ(run({"compare", old_run, same, "--format", "json"}), 0);
  EXPECT_NE(out_.str().find("\"exit_code\": 0"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"compare", old_run, same, "--format", "md"}), 0);
  EXPECT_NE(out_.str().find(part), std::string::npos) << out_.str();
  EXPECT_EQ(check(same), 0) << out_.str() << err_.str();
  EXPECT_TRUE(says("ok: " + part + "the run were not counted: S.One; ")) << out_.str();

  EXPECT_EQ(run({"compare", old_run, same, "--strict"}), 3);
  EXPECT_TRUE(says("verdict: no answer, exit code 3: 1 test without a verdict (--strict); " + part)) << out_.str();
  EXPECT_EQ(check(same, {"--strict"}), 3) << out_.str();
  EXPECT_TRUE(says("not judged: " + part)) << out_.str();

  EXPECT_EQ(run({"compare", old_run, grown}), 1);
  EXPECT_EQ(check(grown), 1) << out_.str();
  EXPECT_EQ(run({"compare", old_run, none}), 3);
  EXPECT_EQ(check(none), 3) << "nothing was judged: " << out_.str();
}

// Its set-up made no call in the baseline's run, so that there is no line of it.
TEST_F(BaselineFile, KnowsTestsThatAreMeantToFailWhereToldTo) {
  ASSERT_EQ(update({make_run("a", 3, 5, 0, "failed"), make_run("b", 3, 5, 0, "failed"), "--allow-failed"}), 0);
  EXPECT_NE(text().find("S.One\t-\twindow\ttest failed 2\n"), std::string::npos) << text();
  EXPECT_EQ(text().find("\twrite\t"), text().find("\twrite\tdesc")) << "no counts: " << text();
  EXPECT_EQ(check(make_run("c", 4, 5, 0, "failed")), 0) << out_.str();
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
  EXPECT_EQ(check(path("a.csv")), 0) << out_.str();
  EXPECT_EQ(check(path("b.csv")), 0) << out_.str();
}

TEST_F(BaselineFile, IsUpdatedWhereARunDiffersAndNowhereElse) {
  ASSERT_EQ(update({make_run("a", 3, 5), make_run("b", 3, 7)}), 0) << err_.str();
  const std::string before = text();
  ASSERT_EQ(check(make_run("same", 3, 6), {"--update"}), 0);
  EXPECT_EQ(text(), before) << "a count within its range keeps it";
  ASSERT_EQ(check(make_run("more", 4, 6), {"--update"}), 0) << err_.str();
  std::multiset<std::string> removed;
  std::multiset<std::string> added;
  std::istringstream old_lines(before);
  std::istringstream new_lines(text());
  for (std::string line; std::getline(old_lines, line);) removed.insert(line);
  for (std::string line; std::getline(new_lines, line);) {
    if (const auto same = removed.find(line); same != removed.end()) {
      removed.erase(same);
    } else {
      added.insert(line);
    }
  }
  EXPECT_EQ(added, (std::multiset<std::string>{"tests\tS.One\t-\twindow\ttest passed 1", "tests\tS.One\t-\tcalls\t4",
                                               "tests\tS.One\twrite\tcalls\t4"}));
  EXPECT_EQ(removed.size(), 3U);
  EXPECT_EQ(check(path("more.csv")), 0) << out_.str();
}

TEST_F(BaselineFile, EstimatesTheNextRunsFalseAlarmsFromThreeRunsOn) {
  ASSERT_EQ(update({make_run("a", 3, 5), make_run("b", 3, 5)}), 0) << err_.str();
  EXPECT_NE(out_.str().find("not known from 2 runs"), std::string::npos) << out_.str();
  ASSERT_EQ(update({make_run("a", 3, 5), make_run("b", 3, 6), make_run("c", 3, 5)}), 0) << err_.str();
  EXPECT_NE(out_.str().find("about 0.3 tests"), std::string::npos) << out_.str();
  EXPECT_EQ(check(path("a.csv")), 0);
  EXPECT_NE(out_.str().find("about 0.3 tests"), std::string::npos) << out_.str();
}

// A repository of a stranger may hold links.
TEST_F(BaselineFile, IsWrittenThroughNoLinkThatSomeonePlanted) {
  std::ofstream(path("bashrc")) << "alias ll='ls -l'\n";
  const auto bashrc = [&] {
    std::ostringstream all;
    all << std::ifstream(path("bashrc")).rdbuf();
    return all.str();
  };
  fs::create_symlink(path("bashrc"), baseline() + ".new");
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  ASSERT_EQ(check(make_run("b", 4, 5), {"--update"}), 0) << err_.str();
  EXPECT_EQ(bashrc(), "alias ll='ls -l'\n");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(baseline())));
  EXPECT_TRUE(fs::is_symlink(baseline() + ".new")) << "what is not ours stays";
  const std::string before = text();

  // The baseline itself is a link: to a file of another kind, to a baseline, and to nothing.
  fs::rename(baseline(), path("real.baseline"));
  for (const char* target : {"bashrc", "real.baseline", "not_there"}) {
    fs::create_symlink(path(target), baseline());
    EXPECT_EQ(update({path("b.csv")}), 2);
    EXPECT_NE(err_.str().find("it.baseline is a link, and bench writes through none"), std::string::npos) << err_.str();
    EXPECT_EQ(bashrc(), "alias ll='ls -l'\n");
    EXPECT_FALSE(fs::exists(path("not_there")));
    if (std::string(target) == "real.baseline") {
      EXPECT_EQ(check(path("b.csv")), 0) << "it is read, though";
      EXPECT_EQ(check(make_run("c", 5, 5), {"--update"}), 2);
    }
    fs::remove(baseline());
  }
  fs::rename(path("real.baseline"), baseline());
  EXPECT_EQ(text(), before);
}

TEST_F(BaselineFile, HoldsNoSyscallWithANameThatNoneHas) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  std::string changed = text();
  for (std::size_t at = 0; (at = changed.find("\twrite\t", at)) != std::string::npos; ++at) {
    changed.replace(at + 1, 5, std::string(400'000, 'a'));
  }
  csv::Problems problems;
  EXPECT_FALSE(model::parse_baseline("it", changed, problems));
  EXPECT_NE(problems.texts().front().find("a name of 400000 bytes is no syscall's"), std::string::npos);
}

TEST_F(BaselineFile, TakesThePlaceOfNoOtherFile) {
  std::ofstream(baseline()) << "notes of mine\n";
  EXPECT_EQ(update({make_run("a", 3, 5)}), 2);
  EXPECT_NE(err_.str().find("is there already, and is no baseline of bench"), std::string::npos) << err_.str();
  EXPECT_EQ(text(), "notes of mine\n");
  std::ofstream(baseline(), std::ios::trunc).close();
  EXPECT_EQ(update({path("a.csv")}), 0) << err_.str();
}

TEST_F(BaselineFile, IsWholeWithManyWritersAtATime) {
  constexpr int kWriters = 8;
  const auto run_of = [&](const std::string& id, int changed) {
    std::ofstream file(path(id + ".csv"));
    file << testing::header();
    for (int i = 0; i < kWriters; ++i) {
      const std::string count = std::to_string(i == changed ? 7 : 3);
      const testing::Cells key = {{"run_id", id}, {"test", "S.T" + std::to_string(i)}};
      testing::Cells totals = key;
      totals.insert({{"total_calls", count}, {"total_entries", count}});
      testing::Cells cells = key;
      cells.insert({{"calls", count}, {"entries", count}});
      file << testing::test_row(totals) << testing::syscall_row(cells);
    }
    return path(id + ".csv");
  };
  ASSERT_EQ(update({run_of("all", -1)}), 0) << err_.str();
  std::vector<std::thread> writers;
  std::atomic<int> failed{0};
  for (int i = 0; i < kWriters; ++i) {
    const std::string csv = run_of("run" + std::to_string(i), i);
    writers.emplace_back([&, csv] {
      for (int round = 0; round < 5; ++round) {
        std::ostringstream out;
        std::ostringstream err;
        if (bench_main({"baseline", "update", "-o", baseline(), csv}, out, err) != 0) ++failed;
        if (bench_main({"check", csv, "--baseline", baseline(), "--update"}, out, err) != 0) ++failed;
        csv::Problems problems;
        std::ostringstream now;
        now << std::ifstream(baseline()).rdbuf();
        if (!model::parse_baseline("it", now.str(), problems)) ++failed;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), kWriters + 2)
      << "the runs and the baseline";
}

TEST_F(BaselineFile, IsLeftAsItIsWhileAnotherProcessHoldsItsLock) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  std::optional<commands::BaselineLock> first(std::in_place, baseline(), 0);
  EXPECT_EQ(first->fault(), "");
  const commands::BaselineLock second(baseline(), 0);
  EXPECT_NE(second.fault().find("holds the lock of " + baseline()), std::string::npos) << second.fault();
  // One that waits gets the lock of the file that is there then.
  std::thread waiter([&] {
    const commands::BaselineLock third(baseline());
    EXPECT_EQ(third.fault(), "");
    EXPECT_NE(commands::BaselineLock(baseline(), 0).fault(), "");
  });
  csv::Problems problems;
  EXPECT_EQ(commands::write_baseline(baseline(), *model::parse_baseline("it", text(), problems)), "");
  first.reset();
  waiter.join();
}

}  // namespace
}  // namespace syscost::bench
