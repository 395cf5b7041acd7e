// SPDX-License-Identifier: MIT
//
// How the file of a baseline is written: through no link, over no other file, and whole with many writers.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "baseline_file.h"
#include "bench.h"
#include "commands/baseline/baseline.h"
#include "csv_text.h"
#include "model/baseline.h"

namespace syscost::bench {
namespace {

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

TEST_F(BaselineFile, TakesThePlaceOfNoOtherFile) {
  std::ofstream(baseline()) << "notes of mine\n";
  EXPECT_EQ(update({make_run("a", 3, 5)}), 2);
  EXPECT_NE(err_.str().find("is there already, and is no baseline of bench"), std::string::npos) << err_.str();
  EXPECT_EQ(text(), "notes of mine\n");
  std::ofstream(baseline(), std::ios::trunc).close();
  EXPECT_EQ(update({path("a.csv")}), 0) << err_.str();
}

TEST_F(BaselineFile, IsNotWrittenFromARunThatIsNamedTwice) {
  const std::string run = make_run("a", 3, 5);
  const std::string end = "\nbench: no baseline was written\n";
  EXPECT_EQ(update({run, run, run}), 2);
  EXPECT_EQ(err_.str(), run + ": named twice, and each file counts once: name it once" + end);
  fs::create_symlink(run, path("link.csv"));
  EXPECT_EQ(update({run, path("link.csv")}), 2);
  EXPECT_EQ(err_.str(),
            path("link.csv") + ": the same file as " + run + ", and each file counts once: name one of them" + end);
  fs::remove(path("link.csv"));
  EXPECT_EQ(update({folder_.string(), run}), 2) << "the folder has it";
  EXPECT_EQ(err_.str(), run + ": named twice, and each file counts once: name it once" + end);
  EXPECT_FALSE(fs::exists(baseline()));
  EXPECT_EQ(update({run, make_run("b", 3, 5)}), 0) << err_.str();
}

TEST_F(BaselineFile, IsNotWrittenIfItCouldNotBeReadBack) {
  ASSERT_EQ(update({make_run("a", 3, 5)}), 0) << err_.str();
  const std::string before = text();
  csv::Problems problems;
  model::Baseline twice = *model::parse_baseline("it", before, problems);
  twice.windows.push_back(twice.windows.front());
  const std::string fault = commands::write_baseline(baseline(), std::move(twice));
  EXPECT_NE(fault.find("could not be read back: "), std::string::npos) << fault;
  EXPECT_NE(fault.find("stands twice"), std::string::npos) << fault;
  EXPECT_EQ(text(), before);
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
