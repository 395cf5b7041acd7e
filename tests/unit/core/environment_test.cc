// SPDX-License-Identifier: MIT
#include "os/environment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "csv/temporary_folder.h"
#include "os/program_files.h"

namespace syscost {
namespace {

namespace fs = std::filesystem;

// ---- one place reads the environment
// ----------------------------------------------------------------------------------

/// Ways to the environment, or to a program by its PATH. libc's `std::getenv` and `::getenv` have the name as a word,
/// too.
constexpr std::array<std::string_view, 14> kWays = {
    "getenv", "secure_getenv", "__secure_getenv", "environ", "__environ", "_environ", "get_current_dir_name",
    "execvp", "execlp",        "execvpe",         "popen(",  "system(",   "wordexp",  "posix_spawnp"};

/// Sources that may, and how.
struct Exception {
  std::string_view file;
  std::string_view way;
};
constexpr std::array<Exception, 34> kExceptions = {{
    {"plugin/src/os/environment.cc", "__environ"},
    {"plugin/src/os/environment.cc", "getenv"},
    // A list of names of functions. Those that read the environment are called by the sources of this list alone.
    {"plugin/src/libc/names.inc", "getenv"},
    {"plugin/src/libc/names.inc", "secure_getenv"},
    {"plugin/src/libc/names.inc", "execvp"},
    {"plugin/src/libc/names.inc", "execvpe"},
    {"plugin/src/libc/names.inc", "posix_spawnp"},
    // Without the library, in the user's program: null under AT_SECURE.
    {"plugin/src/late/adapter_stand_ins.cc", "secure_getenv"},
    // The environment of the ctest above us, to compare one variable with ours.
    {"plugin/src/session/run/run_info.cc", "environ"},
    // libc's functions that execute a program; they do what libc does, with the program's own rights.
    {"plugin/src/agent/exec/libc_functions.cc", "__environ"},
    {"plugin/src/agent/exec/libc_functions.cc", "execvp"},
    {"plugin/src/agent/exec/libc_functions.cc", "execlp"},
    {"plugin/src/agent/exec/libc_functions.cc", "execvpe"},
    {"plugin/src/agent/exec/libc_functions.cc", "posix_spawnp"},
    // It leaves at once where the program has more rights than its user.
    {"plugin/src/agent/exec/passing_on.cc", "getenv"},
    {"plugin/src/agent/exec/passing_on.cc", "__environ"},
    {"plugin/src/agent/exec/environment.cc", "getenv"},
    {"plugin/src/agent/exec/environment.cc", "__environ"},
    // Only a program that was preloaded has it, and the loader preloads nothing where there are more rights.
    {"plugin/src/agent/preload.cc", "getenv"},
    {"plugin/src/agent/benchmark/flags.cc", "getenv"},
    // `bench`, and what `bench run` executes, run with their user's rights only.
    {"plugin/src/agent/inject/main.cc", "__environ"},
    {"plugin/src/agent/inject/main.cc", "getenv"},
    {"plugin/src/bench_run/main.cc", "getenv"},
    {"plugin/src/bench_run/programs.cc", "getenv"},
    {"plugin/src/bench_run/row_file.cc", "getenv"},
    {"plugin/src/bench_run/options.cc", "__environ"},
    {"plugin/src/bench_run/options.cc", "getenv"},
    {"bench_tool/src/render/terminal.cc", "getenv"},
    {"bench_tool/src/commands/run/run_live.cc", "getenv"},
    {"bench_tool/src/commands/faults/faults.cc", "getenv"},
    {"bench_tool/src/faults/keeper.cc", "getenv"},
    {"bench_tool/src/otlp/endpoints.cc", "getenv"},
    {"bench_tool/src/commands/shared/command_runs.cc", "environ"},
    {"bench_tool/src/commands/shared/command_runs.cc", "posix_spawnp"},
}};

bool is_of_a_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

/// True where `word` stands in `text` as a whole name. In a string or a comment, too: a name may come from a string.
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool is_begin = at == 0 || !is_of_a_name(text[at - 1]);
    const bool is_end = end == text.size() || !is_of_a_name(text[end]) || !is_of_a_name(word.back());
    if (is_begin && is_end) return true;
  }
  return false;
}

std::vector<std::string_view> ways_in(std::string_view text) {
  std::vector<std::string_view> ways;
  std::copy_if(kWays.begin(), kWays.end(), std::back_inserter(ways),
               [&](std::string_view way) { return has_word(text, way); });
  return ways;
}

TEST(Environment, IsFoundInEachSpelling) {
  for (const char* line :
       {"std::getenv(name)", "::getenv (name)", "getenv(name)", "auto read = &getenv;", "#define READ getenv",
        "secure_getenv(name)", "__environ[0]", "*environ", "for (char** e = ::environ; *e; ++e)", "f(environ)",
        "open(\"/proc/self/environ\", O_RDONLY)", "dlsym(h, \"getenv\")", "execvpe(file, arguments, variables)",
        "f(\"http://x\", std::getenv(name))", "std::system(line)"}) {
    EXPECT_FALSE(ways_in(line).empty()) << line;
  }
  for (const char* line : {"environment_to_pass_on()", "forget_environ()", "getenvelope", "filesystem(x)"}) {
    EXPECT_TRUE(ways_in(line).empty()) << line;
  }
}

TEST(Environment, IsReadInOnePlace) {
  const fs::path root(SYSCOST_SOURCE_ROOT);
  constexpr std::array<std::string_view, 8> kSources = {".cc", ".h", ".c", ".cpp", ".S", ".inc", ".cu", ".cuh"};
  std::vector<std::string> found;
  std::vector<std::string> excepted;
  int sources = 0;
  for (const char* folder : {"plugin", "bench_tool", "tools"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string end = entry.path().extension();
      if (std::find(kSources.begin(), kSources.end(), end) == kSources.end()) continue;
      ++sources;
      const std::string file = entry.path().lexically_relative(root);
      for (const std::string_view way : ways_in(testing::read_file(entry.path()))) {
        const bool is_excepted = std::any_of(kExceptions.begin(), kExceptions.end(),
                                             [&](const Exception& one) { return one.file == file && one.way == way; });
        (is_excepted ? excepted : found).push_back(file + ": " + std::string(way));
      }
    }
  }
  EXPECT_GT(sources, 400);
  EXPECT_EQ(found, std::vector<std::string>()) << "read it by os/environment.h";
  EXPECT_EQ(excepted.size(), kExceptions.size()) << "an exception that no source needs";
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

/// The file that a copy of this program, started as `name`, finds beside it.
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
