// SPDX-License-Identifier: MIT
//
// baseline on files of their own: what is written, that it says what the run said, and that a change of one test is a
// diff of that test. The output of check is tested in tests/cli.
#include "model/baseline.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <tuple>

#include "baseline_file.h"
#include "csv_text.h"
#include "judge/baseline_windows.h"
#include "judge/verdict.h"
#include "model/dataset.h"
#include "model/loader.h"
#include "stats/summaries.h"

namespace syscost::bench {
namespace {

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
  written.runs = 1;
  std::size_t judged = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (!judge::fault_of(windows[i]).text.empty()) continue;
    written.windows.push_back(
        judge::to_baseline(windows[i], data.text(groups[i].program), model::base_name(data, groups[i])));
  }
  csv::Problems problems;
  const auto read = model::parse_baseline("it", model::to_text(written), problems);
  ASSERT_TRUE(read.has_value()) << model::to_text(written);
  ASSERT_EQ(read->windows.size(), written.windows.size());
  for (const model::BaselineWindow& line : read->windows) {
    const stats::WindowSummary from_file = judge::from_baseline(*read, line);
    for (std::size_t i = 0; i < windows.size(); ++i) {
      if (model::base_name(data, groups[i]) != line.name || data.text(groups[i].program) != line.program) continue;
      const judge::Comparison row = judge::compare_windows(&from_file, &windows[i], {});
      EXPECT_EQ(judge::to_string(row.verdict), "same") << line.name << ": " << row.reason;
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

TEST_F(BaselineFile, HoldsTimesWhereToldTo) {
  ASSERT_EQ(update({make_run("a", 3, 5), "--times"}), 0) << err_.str();
  EXPECT_NE(text().find("tests\tS.One\t-\twall_ns\t1000\n"), std::string::npos) << text();
  EXPECT_EQ(check(path("a.csv")), 0) << "times are no counts";
  ASSERT_EQ(check(make_run("more", 4, 5), {"--update"}), 0) << err_.str();
  EXPECT_NE(text().find("tests\tS.One\t-\twall_ns\t1000\n"), std::string::npos) << "as before";
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

/// S.One makes `one` writes in its own thread, S.Two makes `two`, one of them in another; S.Fails has no counts.
/// `what`: calls, or entries if the backend sees only those.
void write_threads(const std::string& file, const std::string& what, int one, int two) {
  std::ofstream to(file);
  to << testing::header();
  for (const auto& [test, count, others] : {std::tuple("S.One", one, "0"), std::tuple("S.Two", two, "1")}) {
    testing::Cells cells = {
        {"test", test}, {"calls", ""}, {"errors", ""}, {"by_started_threads", others}, {"by_older_threads", "0"}};
    cells[what] = std::to_string(count);
    to << testing::test_row({{"test", test}, {"total_" + what, std::to_string(count)}}) << testing::syscall_row(cells);
  }
  to << testing::test_row({{"test", "S.Fails"}, {"outcome", "failed"}, {"total_" + what, "0"}});
}

// Without that, the judge can only guess it from the syscalls of a test.
TEST_F(BaselineFile, KeepsWhichTestsHaveOtherThreads) {
  for (const std::string what : {"calls", "entries"}) {
    SCOPED_TRACE(what);
    write_threads(path("run.csv"), what, 3, 5);
    ASSERT_EQ(update({path("run.csv"), "--allow-failed"}), 0) << err_.str();
    EXPECT_EQ(text().find("syscost baseline\t1\n"), 0U) << text();
    EXPECT_NE(text().find("S.One\t-\twindow\ttest passed 1\n"), std::string::npos) << text();
    EXPECT_NE(text().find("S.Two\t-\twindow\ttest passed 1 several_threads\n"), std::string::npos) << text();
    write_threads(path("more.csv"), what, 3, 6);
    EXPECT_EQ(check(path("more.csv")), 0) << out_.str();
    EXPECT_NE(out_.str().find("in doubt"), std::string::npos) << out_.str();
    EXPECT_EQ(check(path("more.csv"), {"--strict"}), 3) << out_.str();
    write_threads(path("more.csv"), what, 4, 5);
    EXPECT_EQ(check(path("more.csv")), 1) << out_.str();
  }
}

// A scope of one thread does not tell who made the calls; that must not hide it of the tests.
TEST_F(BaselineFile, SaysOfAWindowThatItsThreadsAreUnknown) {
  for (const std::string what : {"calls", "entries"}) {
    SCOPED_TRACE(what);
    write_threads(path("run.csv"), what, 3, 5);
    const auto add_unknown = [&](const std::string& file, int writes) {
      testing::Cells cells = {
          {"test", "S.Unknown"}, {"calls", ""}, {"errors", ""}, {"entries", std::to_string(writes)}};
      std::ofstream to(file, std::ios::app);
      to << testing::test_row({{"test", "S.Unknown"}, {"total_entries", std::to_string(writes + 1)}})
         << testing::syscall_row(cells);
      cells["entries"] = "1";
      cells.insert({{"syscall", "futex"}, {"class", "wait;volatile"}});
      to << testing::syscall_row(cells);
    };
    add_unknown(path("run.csv"), 4);
    ASSERT_EQ(update({path("run.csv"), "--allow-failed"}), 0) << err_.str();
    EXPECT_EQ(text().find("syscost baseline\t1\n"), 0U) << text();
    EXPECT_NE(text().find("S.One\t-\twindow\ttest passed 1\n"), std::string::npos) << text();
    EXPECT_NE(text().find("S.Two\t-\twindow\ttest passed 1 several_threads\n"), std::string::npos) << text();
    EXPECT_NE(text().find("S.Unknown\t-\twindow\ttest passed 1 unknown_threads\n"), std::string::npos) << text();
    write_threads(path("more.csv"), what, 3, 5);
    add_unknown(path("more.csv"), 5);
    EXPECT_EQ(check(path("more.csv")), 0) << out_.str();
    EXPECT_NE(out_.str().find("other threads may have made calls"), std::string::npos) << out_.str();
  }
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

}  // namespace
}  // namespace syscost::bench
