// SPDX-License-Identifier: MIT
//
// Which of the traces on disk a test's name means.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "csv/problems.h"
#include "trace/artifacts.h"

namespace syscost::bench::trace {
namespace {

namespace fs = std::filesystem;

class Traces : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_); }
  void TearDown() override { fs::remove_all(root_); }

  /// A trace of `test`, written `age` hours ago.
  void add(const std::string& run, const std::string& test, int age = 0) {
    const fs::path folder = root_ / run / "program" / test;
    fs::create_directories(folder);
    std::ofstream(folder / kTraceName) << 't';
    fs::last_write_time(folder / kTraceName, fs::file_time_type::clock::now() - std::chrono::hours(age));
  }
  std::vector<FoundTrace> all(const std::set<std::string>& run_ids = {}) {
    csv::Problems problems;
    std::vector<FoundTrace> found = find_traces(root_.string(), kTraceName, run_ids, problems);
    EXPECT_TRUE(problems.empty());
    return found;
  }
  static std::vector<std::string> tests_of(const std::vector<FoundTrace>& traces) {
    std::vector<std::string> tests;
    for (const FoundTrace& one : traces) tests.push_back(one.test);
    return tests;
  }

  const fs::path root_ = fs::temp_directory_path() / ("syscost_traces_" + std::to_string(getpid()));
};

using Names = std::vector<std::string>;

TEST_F(Traces, AWholeNameIsNoPartOfALongerOne) {
  add("r", "Log.Write");
  add("r", "Log.Writes");
  EXPECT_EQ(tests_of(of_test(all(), "Log.Write")), Names{"Log.Write"});
  EXPECT_EQ(tests_of(of_test(all(), "Log.Wri")), (Names{"Log.Write", "Log.Writes"}));
  EXPECT_TRUE(of_test(all(), "Log.Reads").empty());
}

TEST_F(Traces, ANameWithSlashesIsFoundByItself) {
  add("r", "All_P.Is_0-a666d464");
  add("r", "All_P.Is_1-a766d5f7");
  EXPECT_EQ(tests_of(of_test(all(), "All/P.Is/1")), Names{"All_P.Is_1-a766d5f7"});
}

TEST_F(Traces, TheNewestRunIsTaken) {
  add("old", "Log.Write", 2);
  add("new", "Log.Write", 1);
  add("new", "Log.Read", 3);
  const std::vector<FoundTrace> newest = of_newest_run(all());
  ASSERT_EQ(newest.size(), 2U);
  EXPECT_EQ(newest[0].run, (root_ / "new").string());
  EXPECT_EQ(tests_of(all({"old"})), Names{"Log.Write"});
  EXPECT_TRUE(of_newest_run({}).empty());
}

TEST_F(Traces, FollowsNoLink) {
  add("r", "Log.Write");
  fs::create_directory_symlink(root_, root_ / "r" / "again");
  EXPECT_EQ(all().size(), 1U);
}

TEST_F(Traces, AFileThatIsALinkIsLeftOut) {
  add("r", "Log.Write");
  const fs::path folder = root_ / "r" / "p" / "Log.Read";
  fs::create_directories(folder);
  fs::create_symlink("/etc/hostname", folder / kTraceName);
  csv::Problems problems;
  EXPECT_EQ(find_traces(root_.string(), kTraceName, {}, problems).size(), 1U);
  EXPECT_EQ(problems.count(), 1U);
}

TEST_F(Traces, APipeADeviceOrAHoleIsNotRead) {
  const fs::path pipe = root_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const fs::path link = root_ / "link";
  fs::create_symlink("/dev/zero", link);
  const fs::path hole = root_ / "hole";
  std::ofstream(hole) << 't';
  fs::resize_file(hole, kMostArtifactBytes + 1);
  for (const fs::path& path : {pipe, link, hole, root_, root_ / "none"}) {
    csv::Problems problems;
    EXPECT_FALSE(artifact_bytes(path.string(), problems).has_value()) << path;
    EXPECT_EQ(problems.count(), 1U) << path;
  }
}

TEST_F(Traces, AFileIsReadAsAWhole) {
  const std::string text("\0a\n\r", 4);
  const fs::path path = root_ / "file";
  std::ofstream(path, std::ios::binary) << text;
  csv::Problems problems;
  EXPECT_EQ(artifact_bytes(path.string(), problems), std::vector<char>(text.begin(), text.end()));
  EXPECT_TRUE(problems.empty());
}

}  // namespace
}  // namespace syscost::bench::trace
