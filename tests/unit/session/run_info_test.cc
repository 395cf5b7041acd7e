// SPDX-License-Identifier: MIT
#include "session/run/run_info.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

namespace syscost::session {
namespace {

TEST(RunInfo, SaysWhereAndWhatRuns) {
  csv::RunColumns run = read_run_info({}, "optimised");
  utsname system{};
  uname(&system);
  EXPECT_EQ(run.host, system.nodename);
  EXPECT_EQ(run.kernel_release, system.release);
  EXPECT_EQ(run.pid, static_cast<std::uint64_t>(getpid()));
  EXPECT_EQ(run.program, "syscost_session_unit_tests");
  EXPECT_EQ(run.build_type, "optimised");
  EXPECT_TRUE(std::regex_match(run.started_at, std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")))
      << run.started_at;
  EXPECT_TRUE(run.build_id.empty() || std::regex_match(run.build_id, std::regex("([0-9a-f]{2})+"))) << run.build_id;
}

TEST(RunInfo, HasThePathOfTheProgram) {
  const std::string path = std::filesystem::read_symlink("/proc/self/exe");
  EXPECT_NE(read_run_info({}, "").surroundings.find(";program_path=" + path), std::string::npos);
}

TEST(RunInfo, NamesTheSameRunTwiceAlike) {
  EXPECT_EQ(read_run_info({}, "").run_id, read_run_info({}, "").run_id);
  EXPECT_FALSE(read_run_info({}, "").run_id.empty());
}

TEST(RunInfo, TakesTheUsersWord) {
  Options options;
  options.run_id = "nightly 7";
  options.commit = "abc";
  options.label = "after";
  options.build_type = "special";
  csv::RunColumns run = read_run_info(options, "optimised");
  EXPECT_EQ(run.run_id, "nightly 7");
  EXPECT_EQ(run.commit, "abc");
  EXPECT_EQ(run.label, "after");
  EXPECT_EQ(run.build_type, "special");
}

TEST(ResolvePath, LeavesAbsolutePathsAlone) {
  EXPECT_EQ(resolve_path("/a/b.csv", Source::environment).value(), "/a/b.csv");
}

TEST(ResolvePath, StartsFlagsInTheWorkingDirectory) {
  EXPECT_EQ(resolve_path("b.csv", Source::command_line).value(), std::filesystem::current_path() / "b.csv");
}

TEST(OneFile, IsKnownByEveryNameItHas) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("syscost_one_file." + std::to_string(getpid()));
  fs::create_directory(folder);
  const auto name = [&](const char* last) { return (folder / last).string(); };
  fs::create_symlink("new", name("link"));
  EXPECT_TRUE(are_one_file(name("new"), name("./new")));
  EXPECT_TRUE(are_one_file(name("new"), name("link")));
  EXPECT_TRUE(are_one_file(name("link"), name("new")));
  EXPECT_FALSE(are_one_file(name("new"), name("other")));
  std::ofstream(name("there")) << "text";
  fs::create_hard_link(name("there"), name("hard"));
  EXPECT_TRUE(are_one_file(name("there"), name("hard")));
  EXPECT_FALSE(are_one_file(name("there"), name("new")));
  EXPECT_FALSE(are_one_file("/dev/null", "/dev/null"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace syscost::session
