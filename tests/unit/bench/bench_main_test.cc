// SPDX-License-Identifier: MIT
#include "bench.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

#include "../sanitized.h"
#include "make_rows.h"

namespace syscost::bench::cli {
namespace {

const std::string kData = std::string(SYSCOST_SOURCE_DIR) + "/tests/cli/data/";

/// A full disk.
class Full : public std::streambuf {
  int overflow(int /*c*/) override { return traits_type::eof(); }
};

TEST(BenchMain, EndsNonZeroWhenItsOutputCannotBeWritten) {
  Full full;
  std::ostream out(&full);
  std::ostringstream err;
  EXPECT_EQ(bench_main({"summary", kData + "slow.csv"}, out, err), 2);
  EXPECT_EQ(err.str(), "bench: the output could not be written (disk full, or a closed pipe)\n");
}

TEST(BenchMain, TellsWhenAFolderIsUnreadableAsAFile) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(bench_main({"summary", "/proc/self/mem"}, out, err), 2);
  EXPECT_NE(err.str().find("/proc/self/mem: cannot be read: "), std::string::npos) << err.str();
}

/// Exit status of a child that runs bench with so much more address space than it has; its stderr is in `said`.
int run_with_little_memory(const std::vector<std::string>& args, std::size_t more_bytes, std::string& said) {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t limit = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + more_bytes;
    const rlimit limits{limit, limit};
    ::mallopt(M_ARENA_MAX, 1);  // each thread's own arena would ask the kernel at each allocation, and be refused
    ::setrlimit(RLIMIT_AS, &limits);
    ::dup2(ends[1], STDERR_FILENO);  // terminate() speaks there
    std::ostringstream out;
    std::ostringstream err;
    int code = 128 + SIGABRT;  // what main() would end with
    try {
      code = bench_main(args, out, err);
    } catch (...) {
      ::_exit(code);
    }
    const std::string text = err.str();
    if (::write(ends[1], text.data(), text.size()) < 0) ::_exit(99);
    ::_exit(code);
  }
  ::close(ends[1]);
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    said.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(Memory, ThatDoesNotSufficeEndsInAMessageWhereverItRunsOut) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer needs more address space than the limit leaves";
  const std::string path = ::testing::TempDir() + "syscost_memory." + std::to_string(::getpid()) + ".csv";
  perf::MakeRows shape;
  shape.syscall_rows = 80'000;  // about 37 MiB: read in parts, where there are two cores
  std::ofstream file(path, std::ios::binary);
  perf::make_rows(shape, file);
  file.close();
  const std::string copy = path + ".copy";  // compare refuses a file beside itself
  std::filesystem::copy_file(path, copy, std::filesystem::copy_options::overwrite_existing);
  for (const char* command : {"summary", "compare"}) {
    std::vector<std::string> args = {command, path};
    if (args[0] == "compare") args.push_back(copy);
    bool has_ended_well = false;
    for (std::size_t mib : {1, 6, 30, 70, 130, 4000}) {
      std::string said;
      const int code = run_with_little_memory(args, mib << 20U, said);
      has_ended_well = code == 0;
      if (code == 0) {
        EXPECT_EQ(said.find("not enough memory"), std::string::npos) << command << " says so and ends with 0";
        continue;
      }
      EXPECT_EQ(code, 2) << command << " with " << mib << " MiB: " << said;
      EXPECT_NE(said.find("bench: there is not enough memory"), std::string::npos)
          << command << " with " << mib << " MiB: " << said;
    }
    EXPECT_TRUE(has_ended_well) << command << ": the largest limit was too small as well";
  }
  std::filesystem::remove(path);
  std::filesystem::remove(copy);
}

TEST(Doctor, RunsAProgramThatHasSyscostFromASharedHelper) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(bench_main({"doctor", BENCH_DOCTOR_PROGRAM}, out, err), 0);
  EXPECT_EQ(out.str(), "asked\n");
  EXPECT_EQ(err.str(), "");
}

TEST(Doctor, DoesNotWaitForAPipeAndReadsNoDevice) {
  const std::string pipe = ::testing::TempDir() + "doctor_pipe." + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0700), 0);
  for (const std::string& path : {pipe, std::string("/dev/zero")}) {
    std::ostringstream out;
    std::ostringstream err;
    EXPECT_EQ(bench_main({"doctor", path}, out, err), 2);
    EXPECT_EQ(err.str(), "bench: " + path + " cannot be run: Permission denied\n");
  }
  ::unlink(pipe.c_str());
}

TEST(Doctor, SaysWhenItCouldNotSearchTheLibraries) {
  const char* const set = std::getenv("PATH");
  ASSERT_NE(set, nullptr);
  const std::string path = set;
  ::setenv("PATH", "/nonexistent", 1);
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(bench_main({"doctor", BENCH_DOCTOR_PROGRAM}, out, err), 2);
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(out.str(), "");
  EXPECT_NE(err.str().find("Not all of its shared libraries were searched: ldd: No such file or directory"),
            std::string::npos)
      << err.str();
}

// The loader lists no library after a broken one: which of them have syscost is not known.
TEST(Doctor, NamesALibraryThatIsMissingOrBroken) {
  const std::filesystem::path folder = ::testing::TempDir() + "doctor_libraries." + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const std::filesystem::path library = BENCH_DOCTOR_LIBRARY;
  const std::string program = folder / "program";
  std::ostringstream whole;
  whole << std::ifstream(BENCH_DOCTOR_PROGRAM, std::ios::binary).rdbuf();
  std::string bytes = whole.str();
  const std::size_t place = bytes.find(library.parent_path().string());
  if (place == std::string::npos) GTEST_SKIP() << "the program was linked without the path of its library";
  bytes[place] = '.';
  std::ofstream(program, std::ios::binary) << bytes;
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto said = [&] {
    std::ostringstream out;
    std::ostringstream err;
    EXPECT_EQ(bench_main({"doctor", program}, out, err), 2) << out.str();
    return err.str();
  };
  const std::string begin = "bench: " + program +
                            " has no syscost that was found and was not run: it would ignore --syscost_doctor and run "
                            "its tests\nNot all of its shared libraries were searched: ";
  EXPECT_EQ(said().rfind(begin + library.filename().string() + " => not found\n", 0), 0U) << said();

  std::ofstream(folder / library.filename()) << "no library";
  const char* const set = std::getenv("LD_LIBRARY_PATH");
  const std::string before = set != nullptr ? set : "";
  ::setenv("LD_LIBRARY_PATH", folder.c_str(), 1);
  const std::string broken = said();
  before.empty() ? ::unsetenv("LD_LIBRARY_PATH") : ::setenv("LD_LIBRARY_PATH", before.c_str(), 1);
  EXPECT_EQ(broken.rfind(begin + program + ": error while loading shared libraries: ", 0), 0U) << broken;
  std::filesystem::remove_all(folder);
}

TEST(BenchMain, SaysItsVersion) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(bench_main({"--version"}, out, err), 0);
  EXPECT_EQ(out.str().rfind("bench " SYSCOST_VERSION ", reads CSVs of schema version ", 0), 0U) << out.str();
  EXPECT_EQ(err.str(), "");
}

TEST(BenchMain, PrintsNoColourIntoAPipe) {
  std::ostringstream out;
  std::ostringstream err;
  bench_main({"summary", kData + "slow.csv"}, out, err);
  EXPECT_EQ(out.str().find('\033'), std::string::npos);
}

}  // namespace
}  // namespace syscost::bench::cli
