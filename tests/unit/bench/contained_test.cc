// SPDX-License-Identifier: MIT
//
// Contained runs: a folder and a /tmp of their own, what they print, and the reports of sanitizers.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "contained_runs.h"

namespace syscost::bench::faults {
namespace {

TEST(ContainedRun, HasAFolderOfItsOwnAndLeavesNothing) {
  fs::path folder;
  {
    ContainedRuns runs;
    ASSERT_EQ(runs.fault(), "");
    folder = runs.folder();
    const ContainedEnd end = end_of(runs, shell("echo x >made; mkdir $TMPDIR/a; chmod 0 $TMPDIR/a; pwd; exit 7"));
    EXPECT_EQ(end.fault, "");
    EXPECT_EQ(WEXITSTATUS(end.status), 7);
    EXPECT_EQ(end.output.find(folder.string()), 0U) << end.output;
    EXPECT_TRUE(fs::is_empty(folder));
    EXPECT_FALSE(fs::exists("made"));
  }
  EXPECT_FALSE(fs::exists(folder));
}

TEST(ContainedRun, SeesTheFilesOfItsWorkingFolder) {
  const std::string name = "contained_run_test_file";
  std::ofstream(name) << "seen\n";
  ContainedRuns runs;
  ContainedCommand command = shell("cat " + name);
  for (const WorkingFolder folder : {WorkingFolder::bounded_copy, WorkingFolder::links, WorkingFolder::here}) {
    command.folder = folder;
    EXPECT_EQ(end_of(runs, command).output, "seen\n");
  }
  fs::remove(name);
}

TEST(ContainedRun, MayHaveATmpOfItsOwn) {
  ContainedRuns runs;
  ContainedCommand command = shell("echo x >/tmp/contained_run_test_own && ls /tmp $TMPDIR; stat -c %a /tmp");
  command.has_own_tmp = true;
  const ContainedEnd end = end_of(runs, command);
  if (end.fault.starts_with("--private-tmp: unshare")) GTEST_SKIP() << end.fault;
  EXPECT_EQ(WEXITSTATUS(end.status), 0) << end.output;
  EXPECT_NE(end.output.find("contained_run_test_own"), std::string::npos) << end.output;
  EXPECT_NE(end.output.find("1777\n"), std::string::npos) << end.output;
  EXPECT_FALSE(fs::exists("/tmp/contained_run_test_own"));
  EXPECT_TRUE(fs::is_empty(runs.folder()));
}

TEST_F(ContainedRunIn, MayHaveATmpOfItsOwnBelowALinkToTmp) {
  fs::create_symlink("/tmp", folder_ / "link");
  ::setenv("TMPDIR", (folder_ / "link").c_str(), 1);
  ContainedRuns runs;
  ContainedCommand command = shell("pwd; test -d $TMPDIR");
  command.has_own_tmp = true;
  const ContainedEnd end = end_of(runs, command);
  if (end.fault.starts_with("--private-tmp: unshare")) GTEST_SKIP() << end.fault;
  EXPECT_EQ(WEXITSTATUS(end.status), 0) << end.output;
  EXPECT_EQ(end.output.rfind("/tmp/", 0), 0U) << end.output;
}

TEST(ContainedRun, HasAFileForSanitizersIfItIsAskedForAndTheUserHasNamedNone) {
  ContainedRuns runs;
  ContainedCommand command = shell("echo \"${LSAN_OPTIONS-none}\"");
  command.variables = {"LSAN_OPTIONS", "ASAN_OPTIONS", "UBSAN_OPTIONS"};
  EXPECT_EQ(end_of(runs, command).output, "none\n");
  command.has_report_file = true;
  EXPECT_EQ(end_of(runs, command).output.rfind("log_path=" + runs.folder().string(), 0), 0U);
  command.variables[0] = "LSAN_OPTIONS=max_leaks=1";
  EXPECT_EQ(end_of(runs, command).output.rfind("max_leaks=1:log_path=", 0), 0U);
  command.variables[1] = "ASAN_OPTIONS=log_path=mine";
  EXPECT_EQ(end_of(runs, command).output, "max_leaks=1\n");
  command.variables[0] = "LSAN_OPTIONS=log_path=mine";
  EXPECT_EQ(end_of(runs, command).output, "log_path=mine\n");
}

TEST(ContainedRun, TakesTheReportOfALeakSanitizerFromItsFileAlone) {
  ContainedRuns runs;
  const std::string text = "==1==ERROR: LeakSanitizer: detected memory leaks";
  const ContainedEnd printed = end_of(runs, shell("echo '" + text + "'; exit 1"));
  EXPECT_FALSE(printed.has_leak_report);
  ContainedCommand writes = shell("echo '" + text + "' >${LSAN_OPTIONS##*log_path=}.$$");
  writes.has_report_file = true;
  const ContainedEnd reported = end_of(runs, writes);
  EXPECT_TRUE(reported.has_report && reported.has_leak_report);
  EXPECT_NE(reported.output.find(text), std::string::npos);
}

TEST(ContainedRun, KeepsTheBeginningAndTheEndOfALongOutput) {
  ContainedRuns runs;
  const ContainedEnd end = end_of(runs, shell("echo begin; head -c 1000000 /dev/zero | tr '\\0' x; echo end"));
  EXPECT_LE(end.output.size(), kMostOutput + 100);
  EXPECT_EQ(end.output.rfind("begin\n", 0), 0U);
  EXPECT_NE(end.output.find("bytes left out"), std::string::npos);
  EXPECT_EQ(end.output.substr(end.output.size() - 4), "end\n");
}

TEST(ContainedRun, SaysWhyACommandCannotRun) {
  ContainedRuns runs;
  ContainedCommand command;
  command.arguments = {"/no/such/program"};
  command.limit = 60s;
  const ContainedEnd end = end_of(runs, command);
  EXPECT_FALSE(end.has_started);
  EXPECT_EQ(end.fault, "/no/such/program cannot be started: No such file or directory");
  const ContainedEnd other = end_of(runs, shell("exit 127"));
  EXPECT_TRUE(other.has_started);
  EXPECT_EQ(other.fault, "");
}

// It could not close its descriptors in the processes that it leaves behind, and would wait for them for ever.
TEST(ContainedRuns, AreRefusedWithoutProc) {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr int kNoNamespace = 77;
    const int spaces = CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER);
    if (::unshare(spaces) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", "/proc", "tmpfs", 0, nullptr) != 0) {
      ::_exit(kNoNamespace);
    }
    ContainedRuns runs;
    ::_exit(runs.fault().find("/proc/self/fd: No such file or directory; mount /proc") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "a mount namespace cannot be made here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace syscost::bench::faults
