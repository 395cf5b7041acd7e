// SPDX-License-Identifier: MIT
//
// The end of contained runs: no process, no folder and no mount stays, whoever is killed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
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

#include "contained_runs.h"
#include "faults/contained.h"
#include "faults/run_folder.h"
#include "faults/state_file.h"

namespace syscost::bench::faults {
namespace {

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

/// A child of a killed process becomes a child of this one, which can wait for its end.
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
