// SPDX-License-Identifier: MIT
//
// Which causes entered and left in a history. The whole output is golden (tests/cli).
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "commands/log/log.h"
#include "csv_text.h"
#include "loaded.h"
#include "model/programs.h"

namespace syscost::bench {
namespace {

using testing::Cells;

/// The calls of a test in one run, by the name of the syscall; `at LINE` after it: the line that makes them.
using Calls = std::map<std::string, int>;
/// The tests of one run.
using Tests = std::map<std::string, Calls>;

class LogOfCauses : public ::testing::Test {
 protected:
  void run(const Tests& tests, const Cells& more = {}) {
    const std::string day = std::to_string(++runs_ + 10);
    Cells run = {{"run_id", "r" + std::to_string(runs_)}, {"started_at", "2026-11-" + day + "T00:00:00Z"}};
    run.insert(more.begin(), more.end());
    run.emplace("selection", "whole");
    const auto with = [&](Cells cells) {
      const std::string of_other_rows = cells.contains("syscall") ? "lost" : "injected";
      for (const auto& [name, value] : run) {
        if (name != of_other_rows) cells.emplace(name, value);
      }
      return cells;
    };
    for (const auto& [test, calls] : tests) {
      int all = 0;
      std::string rows;
      for (const auto& [name, count] : calls) {
        const std::size_t at = name.find(' ');
        Cells cells = {{"test", test},
                       {"syscall", name.substr(0, at)},
                       {"calls", std::to_string(count)},
                       {"class", "desc"},
                       {"errors", "0"},
                       {"by_started_threads", test.starts_with("Net.") ? "1" : "0"},
                       {"by_older_threads", "0"}};
        if (at != std::string::npos) cells["detail"] = name.substr(at + 1);
        rows += testing::syscall_row(with(cells));
        all += count;
      }
      rows_ +=
          testing::test_row(with({{"test", test}, {"total_calls", std::to_string(all)}, {"total_errors", "0"}})) + rows;
    }
  }

  /// `r3 entered +1 write in Log.A; r4 left ...`, the oldest first.
  std::string causes() {
    model::LoadOptions options;
    options.all_runs = options.is_history = options.keep_sites = true;
    testing::Loaded loaded = testing::load(rows_, options);
    EXPECT_EQ(loaded.problems, "");
    log_.data = std::move(loaded.data);
    commands::find_causes({}, log_);
    std::string text;
    for (const commands::LoggedRun& one : log_.runs) {
      for (const auto& [word, causes] : {std::pair(" entered ", &one.entered), std::pair(" left ", &one.left)}) {
        for (const commands::Cause& cause : *causes) {
          text += (text.empty() ? "" : "; ") + log_.data.text(one.run_id) + word + cause.text();
        }
      }
    }
    return text;
  }

  int runs_ = 0;
  std::string rows_;
  commands::CauseLog log_;
};

TEST_F(LogOfCauses, EnterWithTheirLineAndLeaveWithIt) {
  run({{"Log.A", {{"write at log.cc:45 write_all+5", 2}}}, {"Log.B", {{"write at log.cc:45 write_all+5", 1}}}});
  run({{"Log.A", {{"write at log.cc:46 write_all+5", 9}}}, {"Log.B", {{"write at log.cc:46 write_all+5", 3}}}});
  run({{"Log.A", {{"write at log.cc:46 write_all+5", 9}}}, {"Log.B", {{"write at log.cc:46 write_all+5", 3}}}});
  run({{"Log.A", {{"write at log.cc:44 write_all+5", 2}}}, {"Log.B", {{"write at log.cc:44 write_all+5", 1}}}});
  EXPECT_EQ(causes(),
            "r2 entered log.cc:46 write_all: +9 write in 2 tests; r4 left log.cc:44 write_all: -9 write in 2 tests");
}

TEST_F(LogOfCauses, OfASyncThatWasLostLeaveWhenItIsBack) {
  run({{"Log.A", {{"fsync", 4}, {"read", 1}}}});
  run({{"Log.A", {{"read", 1}}}});
  run({{"Log.A", {{"read", 3}}}});
  run({{"Log.A", {{"fsync", 4}, {"read", 3}}}});
  EXPECT_EQ(causes(), "r2 entered -4 fsync in Log.A; r3 entered +2 read in Log.A; r4 left +4 fsync in Log.A");
}

TEST_F(LogOfCauses, OfMoreSyncsThanEverEnter) {
  run({{"Log.A", {{"fsync", 1}}}});
  run({{"Log.A", {{"fsync", 2}}}});
  run({{"Log.A", {{"fsync", 1}}}});
  EXPECT_EQ(causes(), "r2 entered +1 fsync in Log.A; r3 left -1 fsync in Log.A");
}

TEST_F(LogOfCauses, MayEnterAndLeaveInOneRun) {
  run({{"Log.A", {{"openat at a.cc:1 a+1", 1}, {"getppid at b.cc:1 b+1", 5}}}});
  run({{"Log.A", {{"openat at a.cc:1 a+1", 3}, {"getppid at b.cc:1 b+1", 1}}}});
  EXPECT_EQ(causes(), "r2 entered a.cc:1 a: +2 openat in Log.A; r2 left b.cc:1 b: -4 getppid in Log.A");
}

TEST_F(LogOfCauses, AreNotWhatChanceMayHaveChanged) {
  run({{"Net.A", {{"read", 1}}}});
  run({{"Net.A", {{"read", 2}}}});
  EXPECT_EQ(causes(), "");
  EXPECT_EQ(log_.runs.back().in_doubt, std::vector<std::string>{"Net.A"});
}

TEST_F(LogOfCauses, OfATestThatIsMissingOrFailsLeaveWhenItPasses) {
  run({{"Log.A", {{"read", 1}}}, {"Log.B", {{"read", 1}}}});
  run({{"Log.B", {{"read", 1}}}});
  run({{"Log.B", {{"read", 1}}}});
  run({{"Log.A", {{"read", 5}}}, {"Log.B", {{"read", 1}}}});
  EXPECT_EQ(causes(), "r2 entered missing in Log.A; r4 entered +4 read in Log.A; r4 left missing in Log.A")
      << "it is compared with the run that had it";
}

TEST_F(LogOfCauses, AreNotThatARunHadAPartOfTheTestsOrOtherPrograms) {
  run({{"Log.A", {{"read", 1}}}, {"Log.B", {{"read", 1}}}});
  run({{"Log.B", {{"read", 1}}}}, {{"selection", "subset"}});
  run({{"Gpu.A", {{"read", 1}}}}, {{"program", "gpu_tests"}});
  run({{"Log.A", {{"read", 1}}}, {"Log.B", {{"read", 1}}}});
  EXPECT_EQ(causes(), "");
}

TEST_F(LogOfCauses, DoNotComeFromDetailsThatOneRunHas) {
  run({{"Gpu.A", {{"ioctl TCGETS", 2}, {"ioctl TCSETS", 1}}}});
  run({{"Gpu.A", {{"ioctl", 3}}}});
  run({{"Gpu.A", {{"ioctl TCGETS", 2}, {"ioctl TCSETS", 2}}}});
  EXPECT_EQ(causes(), "r3 entered +1 ioctl in Gpu.A");
}

TEST_F(LogOfCauses, DoNotComeFromAnotherBackend) {
  run({{"Log.A", {{"read", 1}}}});
  run({{"Log.A", {{"read", 7}}}}, {{"filter", "read"}});
  run({{"Log.A", {{"read", 8}}}}, {{"filter", "read"}});
  EXPECT_EQ(causes(), "r3 entered +1 read in Log.A") << "the second run cannot be compared, and the third can";
  EXPECT_NE(log_.runs[1].not_compared.find("1 of 1 test could not be compared"), std::string::npos);
}

// Its own window has no calls of the test alone, and lost events make counts lower bounds.
TEST_F(LogOfCauses, DoNotComeFromRunsWithFaultsOrLosses) {
  run({{"Log.A", {{"read", 4}}}});
  run({{"Log.A", {{"read", 9}}}}, {{"injected", "5"}});
  run({{"Log.A", {{"read", 1}}}}, {{"lost", "3"}});
  run({{"Log.A", {{"read", 5}}}});
  EXPECT_EQ(causes(), "r4 entered +1 read in Log.A");
  EXPECT_EQ(log_.runs[1].not_compared, "1 test without a verdict");
  EXPECT_EQ(log_.runs[2].not_compared, "1 test without a verdict");
}

TEST_F(LogOfCauses, OfNoRunAreNone) {
  EXPECT_EQ(causes(), "");
}

}  // namespace
}  // namespace syscost::bench
