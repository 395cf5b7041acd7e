// SPDX-License-Identifier: MIT
//
// Contained runs: the folders and the processes of runs with a failure, and that nothing of them stays.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "faults/contained.h"
#include "faults/folder_scan.h"
#include "faults/process_tree.h"
#include "faults/run_folder.h"
#include "faults/state_file.h"

namespace syscost::bench::faults {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

ContainedCommand shell(const std::string& script) {
  ContainedCommand command;
  command.arguments = {"/bin/sh", "-c", script};
  command.limit = 60s;
  return command;
}

ContainedEnd end_of(ContainedRuns& runs, const ContainedCommand& command) {
  const int number = runs.start(command);
  for (;;) {
    if (auto ended = runs.wait(60s)) {
      EXPECT_EQ(ended->first, number);
      return std::move(ended->second);
    }
  }
}

/// A working directory and a TMPDIR that a test may choose.
class ContainedRunIn : public ::testing::Test {
 protected:
  ContainedRunIn() : before_(fs::current_path()) {
    const char* const variable = ::getenv("TMPDIR");
    temporary_ = variable != nullptr ? variable : "";
    std::string name = before_ / "contained.XXXXXX";  // not in /tmp, which a run may cover
    folder_ = ::mkdtemp(name.data());
    fs::current_path(folder_);
  }
  ~ContainedRunIn() override {
    fs::current_path(before_);
    temporary_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", temporary_.c_str(), 1);
    fs::remove_all(folder_);
  }

  fs::path before_;
  std::string temporary_;
  fs::path folder_;
};

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

TEST_F(ContainedRunIn, CopiesItsWorkingFolderWithoutItsOwnFolderAndFifos) {
  fs::create_directories(folder_ / "data" / "tmp");
  std::ofstream(folder_ / "data" / "text") << "seen\n";
  fs::create_symlink("data/text", folder_ / "link");
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  ::setenv("TMPDIR", (folder_ / "data" / "tmp").c_str(), 1);
  ContainedRuns runs;
  ContainedCommand command = shell("ls . data data/tmp; cat link; echo x >data/text");
  command.folder = WorkingFolder::copy;
  const ContainedEnd end = end_of(runs, command);
  EXPECT_EQ(end.fault, "");
  EXPECT_EQ(end.output, ".:\ndata\nlink\n\ndata:\ntext\ntmp\n\ndata/tmp:\nseen\n");
  std::string left;
  std::ifstream(folder_ / "data" / "text") >> left;
  EXPECT_EQ(left, "seen");
}

TEST_F(ContainedRunIn, WritesToCopiesOfItsFiles) {
  fs::create_directories(folder_ / "data" / "deep");
  std::ofstream(folder_ / "data" / "text") << "seen\n";
  std::ofstream(folder_ / "top") << "seen\n";
  fs::permissions(folder_ / "data" / "deep", fs::perms::owner_read | fs::perms::owner_exec);
  const FolderScan before = scan_folder(folder_, kMostScanned, {});
  ContainedRuns runs;
  const ContainedEnd end =
      end_of(runs, shell("cat data/text top; stat -c %a data/deep; echo x >data/text; echo x >>top; "
                         "mkdir data/x; touch data/made; chmod 700 data; mv data moved; rm top"));
  EXPECT_EQ(end.report.refusal + end.fault, "");
  EXPECT_EQ(end.output, "seen\nseen\n500\n");
  EXPECT_EQ(WEXITSTATUS(end.status), 0);
  EXPECT_EQ(differences(before, scan_folder(folder_, kMostScanned, {})), std::vector<std::string>());
  fs::permissions(folder_ / "data" / "deep", fs::perms::owner_all);
}

TEST_F(ContainedRunIn, CopiesKeepTheirTimesAndTheirLinks) {
  fs::create_directories(folder_ / "data");
  std::ofstream(folder_ / "data" / "text") << "inside\n";
  std::ofstream(before_ / "contained_outside") << "outside\n";
  const timespec times[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / "data" / "text").c_str(), times, 0), 0);
  fs::create_symlink("text", folder_ / "data" / "relative");
  fs::create_symlink(folder_ / "data" / "text", folder_ / "absolute");
  fs::create_symlink("../" + folder_.filename().string() + "/data/text", folder_ / "around");
  fs::create_symlink("../contained_outside", folder_ / "outside");
  fs::create_symlink("nowhere", folder_ / "dangling");
  ContainedRuns runs;
  const ContainedEnd end = end_of(
      runs, shell("stat -c %Y data/text; echo x >>absolute; cat around data/relative outside; readlink dangling"));
  EXPECT_EQ(end.output, "1000\ninside\nx\ninside\nx\noutside\nnowhere\n");
  std::string left;
  std::ifstream(folder_ / "data" / "text") >> left;
  EXPECT_EQ(left, "inside");
  EXPECT_EQ(fs::file_size(folder_ / "data" / "text"), 7U);
  fs::remove(before_ / "contained_outside");
}

TEST_F(ContainedRunIn, LinksFilesThatAreTooLargeToBeCopied) {
  std::ofstream(folder_ / "small") << "small\n";
  std::ofstream(folder_ / "large") << "large\n";
  fs::resize_file(folder_ / "large", kMostCopiedBytes);  // with the small one it is too much
  ContainedRuns runs;
  const ContainedEnd end = end_of(runs, shell("readlink large; readlink small; cat small"));
  EXPECT_EQ(end.output, (folder_ / "large").string() + "\nsmall\n");
}

TEST_F(ContainedRunIn, LinksTheFoldersWithMostEntries) {
  fs::create_directories(folder_ / "many" / "files");
  for (std::size_t i = 0; i < kMostCopiedEntries; ++i) {
    std::ofstream(folder_ / "many" / "files" / std::to_string(i)).flush();
  }
  fs::create_directory(folder_ / "few");
  std::ofstream(folder_ / "few" / "one").flush();
  ContainedRuns runs;
  const ContainedEnd end = end_of(runs, shell("readlink many; readlink few; ls few"));
  EXPECT_EQ(end.output, (folder_ / "many").string() + "\none\n");
}

TEST_F(ContainedRunIn, DifferencesNameWhatWasMadeChangedAndRemoved) {
  fs::create_directories(folder_ / "data" / "gone");
  for (const char* name : {"same", "written", "data/gone/file", "moded"}) std::ofstream(folder_ / name) << "text\n";
  std::ofstream(folder_ / "own") << "text\n";
  struct stat own {};
  ASSERT_EQ(::stat((folder_ / "own").c_str(), &own), 0);
  const std::vector<FileId> left_out = {{own.st_dev, own.st_ino}};
  const FolderScan before = scan_folder(folder_, kMostScanned, left_out);
  EXPECT_TRUE(before.is_whole);
  EXPECT_FALSE(scan_folder(folder_, 2, {}).is_whole);
  fs::create_directories(folder_ / "data" / "made" / "deep");
  fs::remove_all(folder_ / "data" / "gone");
  fs::permissions(folder_ / "moded", fs::perms::owner_read);
  std::ofstream(folder_ / "own") << "other\n";
  // A file that was written over, and given its old times.
  struct stat old {};
  ASSERT_EQ(::stat((folder_ / "written").c_str(), &old), 0);
  std::ofstream(folder_ / "written") << "TEXT\n";
  const timespec times[2] = {old.st_atim, old.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / "written").c_str(), times, 0), 0);
  EXPECT_EQ(
      differences(before, scan_folder(folder_, kMostScanned, left_out)),
      (std::vector<std::string>{"removed: data/gone/", "made: data/made/", "changed: moded", "changed: written"}));
}

TEST_F(ContainedRunIn, WhatIsKnownToChangeIsNoDifference) {
  const std::vector<std::string> known = {"changed: a.gcda", "made: Testing/", "changed: data/", "made: run-7.raw"};
  EXPECT_EQ(without_known({"changed: a.gcda", "removed: a.gcda", "made: Testing/log", "removed: Testing/",
                           "changed: data/x", "made: run-1234.raw", "changed: run-8.raw", "made: a.gcda.new"},
                          known),
            (std::vector<std::string>{"changed: data/x", "changed: run-8.raw", "made: a.gcda.new"}));
}

TEST_F(ContainedRunIn, WhatAProgramHasOpenForWritingCanBeLeftOut) {
  for (const char* name : {"read", "written", "other"}) std::ofstream(folder_ / name) << "text\n";
  FolderScan before = scan_folder(folder_, kMostScanned, {});
  std::ofstream log(folder_ / "written", std::ios::app);
  const std::ofstream made(folder_ / "made");
  const std::ifstream read(folder_ / "read");
  log << "more" << std::flush;
  std::ofstream(folder_ / "other") << "more\n";
  std::ofstream(folder_ / "read", std::ios::app) << "more\n";
  FolderScan after = scan_folder(folder_, kMostScanned, {});
  leave_out(files_open_for_writing(), before, after);
  EXPECT_EQ(differences(before, after), (std::vector<std::string>{"changed: other", "changed: read"}));
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

/// The lines of a run's output, as process ids.
std::vector<pid_t> processes_of(const ContainedEnd& end) {
  std::vector<pid_t> processes;
  std::istringstream in(end.output);
  for (pid_t process = 0; in >> process;) processes.push_back(process);
  return processes;
}

TEST(ContainedRun, KillsProcessesThatLeftTheSession) {
  ContainedRuns runs;
  const ContainedEnd end = end_of(runs, shell("setsid sleep 1000 & echo $!; exec 1>&- 2>&-; exit 0"));
  EXPECT_EQ(end.processes_left, 1U);
  for (const pid_t process : processes_of(end)) EXPECT_NE(::kill(process, 0), 0) << process;
  EXPECT_EQ(processes_of(end).size(), 1U);
}

TEST(ContainedRun, EndsAtItsTimeLimitWithAllItsProcesses) {
  ContainedRuns runs;
  ContainedCommand command = shell("trap '' TERM INT HUP; (sleep 1000 & echo $!; wait) & echo $!; wait");
  command.limit = 300ms;
  const ContainedEnd end = end_of(runs, command);
  EXPECT_TRUE(end.is_timed_out);
  for (const pid_t process : processes_of(end)) EXPECT_NE(::kill(process, 0), 0) << process;
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

/// What a killed process leaves becomes a child of this one, which can wait for its end.
class Heir {
 public:
  Heir() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~Heir() { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }
  Heir(const Heir&) = delete;
  Heir& operator=(const Heir&) = delete;

  static void kill_and_wait_for_all(pid_t process) {
    EXPECT_EQ(::kill(process, SIGKILL), 0);
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
  }
};

/// A process that has contained runs, and reports when they are up.
class Owner {
 public:
  /// `body` writes its report to the descriptor, and does not return.
  explicit Owner(void (*body)(int report)) {
    EXPECT_EQ(::pipe2(report_, O_CLOEXEC), 0);
    process_ = ::fork();
    EXPECT_GE(process_, 0);
    if (process_ == 0) {
      body(report_[1]);
      ::_exit(1);
    }
    ::close(report_[1]);
  }
  ~Owner() { ::close(report_[0]); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  pid_t process() const { return process_; }
  /// Waits for it; empty if the process has ended.
  std::string report() const {
    char text[4096];
    const ssize_t length = ::read(report_[0], text, sizeof text);
    EXPECT_GT(length, 0);
    return {text, static_cast<std::size_t>(length > 0 ? length : 0)};
  }

 private:
  int report_[2] = {-1, -1};
  pid_t process_ = -1;
};

TEST(ContainedRun, LeavesNothingIfItsOwnerIsKilled) {
  const Heir heir;
  Owner owner([](int report) {
    ContainedRuns runs;
    // The run writes to the pipe by its number when it is up.
    ContainedCommand command = shell("setsid sleep 1000 & echo \"$! $PWD\" >/proc/$OWNER/fd/$PIPE; exec sleep 1000");
    command.variables = {"OWNER=" + std::to_string(::getpid()), "PIPE=" + std::to_string(report)};
    runs.start(command);
    for (;;) ::pause();
  });
  std::istringstream in(owner.report());
  pid_t sleeper = 0;
  std::string folder;
  in >> sleeper >> folder;
  Heir::kill_and_wait_for_all(owner.process());
  EXPECT_NE(::kill(sleeper, 0), 0);
  EXPECT_FALSE(fs::exists(fs::path(folder).parent_path().parent_path())) << folder;
}

TEST(ContainedRun, LeavesNothingIfItsOwnerIsKilledWhileTheKeeperReports) {
  const Heir heir;
  Owner owner([](int report) {
    ContainedRuns runs;
    int go[2];
    if (::pipe(go) != 0) ::_exit(1);
    // start() makes its pipe at the lowest free number.
    const int pipe = ::dup(go[0]);
    ::close(pipe);
    ContainedCommand command = shell("head -c 1 /proc/$OWNER/fd/$GO; head -c 20000 /dev/zero");
    command.variables = {"OWNER=" + std::to_string(::getpid()), "GO=" + std::to_string(go[0])};
    runs.start(command);
    // The report is longer than the pipe, so the keeper waits in the middle of it.
    if (::fcntl(pipe, F_SETPIPE_SZ, 4096) != 4096 || ::write(go[1], "x", 1) != 1) ::_exit(1);
    pollfd one{pipe, POLLIN, 0};
    ::poll(&one, 1, -1);
    const std::string folder = runs.folder();
    if (::write(report, folder.data(), folder.size()) < 0) ::_exit(1);
    for (;;) ::pause();
  });
  const std::string folder = owner.report();
  Heir::kill_and_wait_for_all(owner.process());
  EXPECT_FALSE(fs::exists(folder)) << folder;
}

TEST(ContainedRun, LeavesNothingIfItsJanitorIsKilled) {
  fs::path folder;
  {
    const std::set<pid_t> before = processes_below();
    ContainedRuns runs;
    folder = runs.folder();
    std::set<pid_t> janitor = processes_below();
    for (const pid_t other : before) janitor.erase(other);
    ASSERT_EQ(janitor.size(), 1U);
    ASSERT_EQ(::kill(*janitor.begin(), SIGKILL), 0);
  }
  EXPECT_FALSE(fs::exists(folder));
}

/// Runs `body` in a process with mounts of its own, and returns its text; "skip" where none can be made.
std::string with_own_mounts(std::string (*body)(const fs::path& kept), const fs::path& kept) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    const bool has_mounts =
        ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    const std::string text = has_mounts ? body(kept) : "skip";
    ::_exit(::write(ends[1], text.data(), text.size()) < 0 ? 1 : 0);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return text;
}

TEST_F(ContainedRunIn, MountsAreGoneWithTheRun) {
  fs::create_directory(folder_ / "kept");
  std::ofstream(folder_ / "kept" / "data") << "important\n";
  const std::string text = with_own_mounts(
      [](const fs::path& kept) {
        ContainedRuns runs;
        const std::string at = "$TMPDIR/mnt";
        const ContainedEnd end = end_of(runs, shell("mkdir " + at + " && mount --bind '" + kept.string() + "' " + at +
                                                    " && test -e " + at + "/data"));
        return std::to_string(end.status) + '|' + end.left + '|' + std::to_string(fs::is_empty(runs.folder()) ? 1 : 0);
      },
      folder_ / "kept");
  if (text == "skip") GTEST_SKIP() << "no mount namespace can be made; run it as root";
  EXPECT_EQ(text, "0||1");
  EXPECT_TRUE(fs::exists(folder_ / "kept" / "data"));
}

TEST_F(ContainedRunIn, LeavesAndNamesWhatIsMountedInItsFolder) {
  fs::create_directory(folder_ / "kept");
  std::ofstream(folder_ / "kept" / "data") << "important\n";
  const std::string text = with_own_mounts(
      [](const fs::path& kept) -> std::string {
        int up[2];
        int go[2];
        if (::pipe(up) != 0 || ::pipe(go) != 0) return "no pipe";
        ContainedRuns runs;
        ContainedCommand command =
            shell("mkdir $TMPDIR/mnt; echo up >/proc/$OWNER/fd/$UP; head -c 1 /proc/$OWNER/fd/$GO");
        command.variables = {"OWNER=" + std::to_string(::getpid()), "UP=" + std::to_string(up[1]),
                             "GO=" + std::to_string(go[0])};
        runs.start(command);
        char buffer[4];
        if (::read(up[0], buffer, sizeof buffer) <= 0) return "no answer";
        // As a helper with rights of its own (fusermount) mounts it: where the keeper sees it.
        const fs::path mounted = runs.folder() / "0" / "tmp" / "mnt";
        if (::mount(kept.c_str(), mounted.c_str(), nullptr, MS_BIND, nullptr) != 0) return "skip";
        if (::write(go[1], "x", 1) != 1) return "not gone on";
        std::optional<std::pair<int, ContainedEnd>> ended;
        while (!ended) ended = runs.wait(60s);
        const std::string left = ended->second.left;
        const std::string at_end = text_of(runs.end());
        ::umount2(mounted.c_str(), MNT_DETACH);
        remove_tree(runs.folder());
        const std::string expected = mounted.string() + ": another file system is mounted there";
        return left == expected && at_end == expected ? "named" : left + '|' + at_end;
      },
      folder_ / "kept");
  if (text == "skip") GTEST_SKIP() << "no mount namespace can be made; run it as root";
  EXPECT_EQ(text, "named");
  EXPECT_TRUE(fs::exists(folder_ / "kept" / "data"));
}

TEST_F(ContainedRunIn, DoesNotHoldTheStateFileOfItsOwner) {
  SweepState state;
  std::optional<StateFile> first(std::in_place);
  ASSERT_EQ(first->open(folder_ / "sweep.jsonl", state), "");
  first->begin({});
  ASSERT_EQ(first->add(LearnedTest()), "");
  ContainedRuns runs;
  ContainedCommand command = shell("sleep 1000");
  command.limit = 10s;
  runs.start(command);
  first.reset();  // as if the owner had been killed
  // The keeper and the janitor close the file when they begin.
  std::string fault = "not tried";
  while (!fault.empty() && !runs.wait(1ms)) {
    StateFile second;
    fault = second.open(folder_ / "sweep.jsonl", state);
  }
  EXPECT_EQ(fault, "");
}

}  // namespace
}  // namespace syscost::bench::faults
