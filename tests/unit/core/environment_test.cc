// SPDX-License-Identifier: MIT
#include "core/environment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/installed_file.h"
#include "csv/temporary_folder.h"

namespace syscost {
namespace {

namespace fs = std::filesystem;

// ---- one place reads the environment
// ----------------------------------------------------------------------------------

/// Ways to the environment, or to a program by its PATH.
constexpr std::array<std::string_view, 6> kWays = {"getenv",   "environ;", "environ,",
                                                   "environ)", "execvp",   "posix_spawnp"};

/// The lines of `file` that go one of them, without comments.
std::vector<std::string> reads_of(const fs::path& file) {
  std::vector<std::string> found;
  std::istringstream lines(testing::read_file(file));
  for (std::string line; std::getline(lines, line);) {
    line.erase(std::min(line.find("//"), line.size()));
    const bool reads = std::any_of(kWays.begin(), kWays.end(),
                                   [&](std::string_view way) { return line.find(way) != std::string::npos; });
    if (reads) found.push_back(file.string() + ": " + line);
  }
  return found;
}

TEST(Environment, IsReadInOnePlace) {
  const fs::path root(SYSCOST_SOURCE_ROOT);
  std::vector<std::string> found;
  int sources = 0;
  for (const char* folder : {"plugin/src", "plugin/include"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string end = entry.path().extension();
      if (end != ".cc" && end != ".h") continue;
      ++sources;
      if (entry.path().parent_path().filename() == "core" && entry.path().stem() == "environment") continue;
      for (std::string& line : reads_of(entry.path())) found.push_back(std::move(line));
    }
  }
  EXPECT_GT(sources, 200);
  EXPECT_EQ(found, std::vector<std::string>()) << "read it by core/environment.h";
  EXPECT_FALSE(reads_of(root / "plugin/src/core/environment.cc").empty()) << "the search finds what it looks for";
}

TEST(Environment, KnowsWhichVariablesGiveACallerNothing) {
  for (const char* name :
       {"SYSCOST_CSV", "SYSCOST_BACKEND", "SYSCOST_INTERNAL_COUNTING", "CI", "NO_COLOR", "GTEST_LIST_TESTS"}) {
    EXPECT_TRUE(is_harmless_variable(name)) << name;
  }
  for (const char* name : {"SYSCOST_CUPTI", "CUDA_HOME", "CUDA_PATH", "PATH", "LD_LIBRARY_PATH", "HOME", "TMPDIR",
                           "BPFTRACE_BTF", "PYTHONPATH", ""}) {
    EXPECT_FALSE(is_harmless_variable(name)) << name;
  }
}

// ---- rights on files
// ----------------------------------------------------------------------------------------------------

std::uint64_t bit(int capability) {
  return std::uint64_t{1} << capability;
}

TEST(FileRights, AreTheCallersWithTheCapabilitiesThatCountingNeeds) {
  EXPECT_FALSE(reason_to_leave_files_alone({true, false, bit(CAP_BPF) | bit(CAP_PERFMON) | bit(CAP_NET_RAW)}));
  EXPECT_FALSE(reason_to_leave_files_alone({false, false, ~std::uint64_t{0}})) << "root, or sudo";
  EXPECT_FALSE(reason_to_leave_files_alone({false, true, 0})) << "a program that changed its ids itself";
}

TEST(FileRights, AreMoreWithOtherIdsOrCapabilitiesOverFiles) {
  EXPECT_TRUE(reason_to_leave_files_alone({true, true, 0}));
  for (const int capability : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_CHOWN}) {
    EXPECT_TRUE(reason_to_leave_files_alone({true, false, bit(capability)})) << capability;
  }
}

// ---- what lies beside us
// ------------------------------------------------------------------------------------------------

/// What a copy of this program, started as `name`, finds beside it.
std::string found_by(std::string name) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return "no pipe";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::string filter = "--gtest_filter=InstalledFile.DISABLED_Prints";
  std::string run = "--gtest_also_run_disabled_tests";
  std::array<char*, 4> arguments{name.data(), filter.data(), run.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), nullptr);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text(4096, '\0');
  const ssize_t got = error == 0 ? read(ends[0], text.data(), text.size()) : 0;
  close(ends[0]);
  if (error == 0) waitpid(child, nullptr, 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

TEST(InstalledFile, DISABLED_Prints) {
  const std::string text = "found " + find_installed("../libexec/helper", "../libexec/helper") + ".";
  ASSERT_GT(write(STDERR_FILENO, text.data(), text.size()), 0);
}

TEST(InstalledFile, IsNotLookedForWhereTheCallersNameOfTheProgramSays) {
  const testing::TemporaryFolder folder;
  fs::create_directories(folder.file("bin"));
  fs::create_directories(folder.file("libexec"));
  testing::write_file(folder.file("libexec/helper"), "the caller's");
  testing::write_file(folder.file("bin/program"), "");
  EXPECT_EQ(found_by(folder.file("bin/program")), "found .");
}

}  // namespace
}  // namespace syscost
