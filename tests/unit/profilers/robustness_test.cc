// SPDX-License-Identifier: MIT
//
// What goes wrong beside a window: whoever dies, nothing of ours stays behind; whatever is missing, the message says
// what and how to get it. Each test does its harm in a process of its own, whose tools are known by a TMPDIR that
// nobody else has.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "core/confinement.h"
#include "traced.h"

namespace syscost::profilers {
namespace {

namespace fs = std::filesystem;

std::string read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string read_until_end(int fd) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = read(fd, part.data(), part.size())) > 0;) text.append(part.data(), got);
  return text;
}

/// A process whose report is read from descriptor 0 of its own, so that it may close all others.
struct Child {
  pid_t pid = -1;
  int report = -1;
};

void say(const std::string& text) {
  if (write(0, text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(9);
}

Child start(const std::function<void()>& body) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], 0);
    close(ends[0]);
    close(ends[1]);
    body();
    _exit(0);
  }
  close(ends[1]);
  return {pid, ends[0]};
}

std::string finish(const Child& child) {
  std::string text = read_until_end(child.report);
  close(child.report);
  int status = 0;
  waitpid(child.pid, &status, 0);
  if (status != 0) text += " [wait status " + std::to_string(status) + "]";
  return text;
}

std::string in_child(const std::function<void()>& body) {
  return finish(start(body));
}

class Robustness : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "bpftrace works for root only: run as root";
    const Result<std::unique_ptr<Profiler>> made = make_bpftrace({.scripts = {"syscount"}, .script_folders = {}});
    if (!made.ok()) GTEST_SKIP() << text_of(made.failure());
    std::string pattern = (fs::temp_directory_path() / "syscost-robust-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    fs::create_directory(folder_ / "tmp");
    setenv("TMPDIR", (folder_ / "tmp").c_str(), 1);
  }
  void TearDown() override {
    if (folder_.empty()) return;
    unsetenv("TMPDIR");
    fs::remove_all(folder_);
  }

  /// Agent, bpftrace and gate of the children: whoever was started with our TMPDIR, but for the children themselves,
  /// whose environment in /proc is the one that this program was started with.
  std::vector<pid_t> tools() const {
    const std::string mark = "TMPDIR=" + (folder_ / "tmp").string();
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      pid_t pid = 0;
      if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc()) continue;
      if (read_all(entry.path() / "environ").find(mark) != std::string::npos) found.push_back(pid);
    }
    return found;
  }
  static std::string name_of(pid_t pid) { return read_all("/proc/" + std::to_string(pid) + "/comm"); }

  pid_t tool_named(const std::string& name) const {
    for (const pid_t pid : tools()) {
      if (name_of(pid) == name + "\n") return pid;
    }
    return 0;
  }

  void kill_tool(const std::string& name) const {
    const pid_t pid = tool_named(name);
    if (pid <= 0 || kill(pid, SIGKILL) != 0) _exit(8);  // 0 would be our own group
  }

  /// Waits for the end of each of `pids`.
  static void expect_gone(const std::vector<int>& pidfds) {
    for (const int pidfd : pidfds) {
      pollfd one{pidfd, POLLIN, 0};
      EXPECT_EQ(poll(&one, 1, 60'000), 1) << "a process of ours outlives the test";
      close(pidfd);
    }
  }
  static std::vector<int> watch(const std::vector<pid_t>& pids) {
    std::vector<int> pidfds;
    for (const pid_t pid : pids) {
      if (const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); fd >= 0) pidfds.push_back(fd);
    }
    return pidfds;
  }
  void expect_nothing_left() const {
    EXPECT_EQ(tools(), std::vector<pid_t>());
    EXPECT_TRUE(fs::is_empty(folder_ / "tmp"));
  }

  ProfilerOptions with(const std::string& name, const std::string& source) const {
    std::ofstream(folder_ / (name + ".bt")) << source;
    return {.scripts = {name}, .script_folders = {folder_.string()}};
  }

  /// What happens when `options` are attached and detached.
  static std::string attach_and_detach(const ProfilerOptions& options) {
    Result<std::unique_ptr<Profiler>> made = make_bpftrace(options);
    if (!made.ok()) return "make: " + text_of(made.failure());
    const Result<void> attached = made.value()->attach();
    if (!attached.ok()) return "attach: " + text_of(attached.failure());
    const Result<std::vector<Output>> outputs = made.value()->detach();
    return outputs.ok() ? "fine" : "detach: " + text_of(outputs.failure());
  }

  fs::path folder_;
};

void attach_and_say() {
  Result<std::unique_ptr<Profiler>> made = make_bpftrace({.scripts = {"syslat"}, .script_folders = {}});
  if (!made.ok() || !made.value()->attach().ok()) _exit(1);
  made.value()->arm();
  say("R");
  while (true) pause();
}

void expect_has(const std::string& text, const std::vector<std::string>& all) {
  for (const std::string& part : all) EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
}

constexpr const char* kNeedsNamespaces = "making namespaces and mounts takes CAP_SYS_ADMIN, which a container lacks";
bool may_make_namespaces() {
  return holds(read_confinement().effective, CAP_SYS_ADMIN);
}

// ---- who dies -------------------------------------------------------------------------------------------------------

TEST_F(Robustness, ATestThatIsKilledInItsWindowLeavesNothingBehind) {
  const Child child = start(attach_and_say);
  char byte = 0;
  ASSERT_EQ(read(child.report, &byte, 1), 1);
  const std::vector<pid_t> running = tools();
  EXPECT_EQ(running.size(), 3U) << "agent, bpftrace and gate";
  const std::vector<int> pidfds = watch(running);
  kill(child.pid, SIGKILL);
  finish(child);
  expect_gone(pidfds);
  expect_nothing_left();
}

TEST_F(Robustness, ATestThatIsKilledWhileItAttachesLeavesNothingBehind) {
  const Child child = start(attach_and_say);
  pid_t bpftrace = 0;
  while ((bpftrace = tool_named("bpftrace")) == 0 && kill(child.pid, 0) == 0) std::this_thread::yield();
  const std::vector<int> pidfds = watch(tools());
  EXPECT_GE(pidfds.size(), 2U);
  kill(child.pid, SIGKILL);
  finish(child);
  expect_gone(pidfds);
  // The gate may have been started since; it ends with the socket that it reads.
  expect_gone(watch(tools()));
  expect_nothing_left();
}

TEST_F(Robustness, AForkChildThatLivesOnDoesNotKeepTheToolsAlive) {
  std::array<int, 2> hold{};
  ASSERT_EQ(pipe(hold.data()), 0);
  const Child child = start([&] {
    Result<std::unique_ptr<Profiler>> made = make_bpftrace({.scripts = {"syslat"}, .script_folders = {}});
    if (!made.ok() || !made.value()->attach().ok()) _exit(1);
    // Without the handlers of fork(), as a test's own clone() is.
    if (syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr) == 0) {
      close(hold[1]);
      close(0);
      char byte = 0;
      [[maybe_unused]] const ssize_t got = read(hold[0], &byte, 1);
      _exit(0);
    }
    say("R");
    while (true) pause();
  });
  char byte = 0;
  ASSERT_EQ(read(child.report, &byte, 1), 1);
  const std::vector<int> pidfds = watch(tools());
  kill(child.pid, SIGKILL);
  finish(child);
  expect_gone(pidfds);
  expect_nothing_left();
  close(hold[1]);
  close(hold[0]);
}

TEST_F(Robustness, BpftraceThatIsKilledIsAFailureWithItsSignal) {
  const std::string said = in_child([this] {
    Result<std::unique_ptr<Profiler>> made = make_bpftrace({.scripts = {"syslat"}, .script_folders = {}});
    if (!made.ok() || !made.value()->attach().ok()) _exit(1);
    kill_tool("bpftrace");
    const Result<std::vector<Output>> outputs = made.value()->detach();
    say(outputs.ok() ? "no failure" : text_of(outputs.failure()));
  });
  expect_has(said, {"script syslat", "was killed by signal 9", "dmesg"});
  expect_nothing_left();
}

TEST_F(Robustness, AnAgentThatIsKilledIsAFailureAndTakesBpftraceAlong) {
  const Child child = start([this] {
    Result<std::unique_ptr<Profiler>> made = make_bpftrace({.scripts = {"syslat"}, .script_folders = {}});
    if (!made.ok() || !made.value()->attach().ok()) _exit(1);
    const std::vector<int> pidfds = watch(tools());
    kill_tool("syscost-profile");
    expect_gone(pidfds);
    const Result<std::vector<Output>> outputs = made.value()->detach();
    say(outputs.ok() ? "no failure" : text_of(outputs.failure()));
  });
  expect_has(finish(child), {"the profile agent", "ended"});
  expect_nothing_left();
}

TEST_F(Robustness, ATestThatClosesEveryDescriptorIsToldSo) {
  const std::string said = in_child([] {
    Result<std::unique_ptr<Profiler>> made = make_bpftrace({.scripts = {"syslat"}, .script_folders = {}});
    if (!made.ok() || !made.value()->attach().ok()) _exit(1);
    syscall(SYS_close_range, 3U, ~0U, 0);
    const Result<std::vector<Output>> outputs = made.value()->detach();
    say(outputs.ok() ? "no failure" : text_of(outputs.failure()));
  });
  expect_has(said, {"closed a descriptor of syscost's", "let the test close"});
  expect_nothing_left();
}

// ---- what is missing ------------------------------------------------------------------------------------------------

TEST_F(Robustness, AMissingBpftraceSaysHowToGetIt) {
  if (!may_make_namespaces()) GTEST_SKIP() << kNeedsNamespaces;
  const std::string said = in_child([] {
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) _exit(1);
    for (const char* folder : {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}) {
      // Over a file of any kind: no file that can be executed is there then.
      mount("/dev/null", (std::string(folder) + "/bpftrace").c_str(), nullptr, MS_BIND, nullptr);
    }
    setenv("PATH", "/nowhere", 1);
    say(attach_and_detach({.scripts = {"syslat"}, .script_folders = {}}));
  });
  expect_has(said, {"make: bpftrace is not installed: not in /nowhere:", "apt-get install bpftrace"});
}

TEST_F(Robustness, ABpftraceThatCannotBeExecutedOrIsTooOldIsNamed) {
  const auto with_bpftrace = [this](const std::string& content) {
    const fs::path file = folder_ / "bpftrace";
    std::ofstream(file) << content;
    fs::permissions(file, fs::perms::owner_all);
    return in_child([this] {
      setenv("PATH", folder_.c_str(), 1);
      say(attach_and_detach({.scripts = {"syslat"}, .script_folders = {}}));
    });
  };
  expect_has(with_bpftrace("no program\n"), {"Cannot execute", folder_.string(), "ENOEXEC", "apt-get install"});
  expect_has(with_bpftrace("#!/bin/sh\necho bpftrace v0.9.2\n"), {"is version 0.9", folder_.string(), "0.17 or later"});
  expect_has(with_bpftrace("#!/bin/sh\nexit 1\n"), {"does not print a version", "0.17 or later"});
  expect_nothing_left();
}

TEST_F(Robustness, WhoIsNotRootIsToldBeforeAnythingIsStarted) {
  const std::string said = in_child([] {
    if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) _exit(1);
    say(attach_and_detach({.scripts = {"syslat"}, .script_folders = {}}));
  });
  expect_has(said, {"make: bpftrace works for root only", "run as root", "--syscost_bpf_sudo"});
}

/// 500 writes in a new PID namespace, in which this process is init.
std::string count_in_pid_namespace(bool mounts_proc) {
  return in_child([mounts_proc] {
    if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) _exit(1);
    if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) _exit(2);
    say(in_child([mounts_proc] {
      if (mounts_proc && mount("proc", "/proc", "proc", 0, nullptr) != 0) _exit(3);
      Result<std::unique_ptr<Profiler>> made = make_bpftrace({.scripts = {"syslat"}, .script_folders = {}});
      if (!made.ok()) return say("make: " + text_of(made.failure()));
      const Result<void> attached = made.value()->attach();
      if (!attached.ok()) return say("attach: " + text_of(attached.failure()));
      const int out = open("/dev/null", O_WRONLY);
      made.value()->arm();
      for (int i = 0; i < 500; ++i) [[maybe_unused]] const ssize_t put = write(out, "x", 1);
      made.value()->disarm();
      const Result<std::vector<Output>> outputs = made.value()->detach();
      if (!outputs.ok()) return say("detach: " + text_of(outputs.failure()));
      for (const SyscallFigures& one : outputs.value().front().syscalls) {
        say(std::to_string(one.number) + ":" + std::to_string(one.entries.value_or(0)) + " ");
      }
      // Orphans come to init: none may be left for a wait() of the test's.
      say(waitpid(-1, nullptr, WNOHANG | __WALL) < 0 ? "no child" : "a child");
    }));
  });
}

TEST_F(Robustness, CountsInAPidNamespace) {
  if (!may_make_namespaces()) GTEST_SKIP() << kNeedsNamespaces;
  EXPECT_EQ(count_in_pid_namespace(true), "1:500 no child");
  expect_nothing_left();
}

TEST_F(Robustness, CountsInAPidNamespaceThatSeesTheProcOfItsParent) {
  if (!may_make_namespaces()) GTEST_SKIP() << kNeedsNamespaces;
  EXPECT_EQ(count_in_pid_namespace(false), "1:500 no child");
  expect_nothing_left();
}

TEST_F(Robustness, AScriptThatNamesTypesOfTheKernelRunsWithoutCapSysAdmin) {
  const std::string said = in_child([] {
    if (holds(read_confinement().bounding, CAP_SYS_ADMIN) && prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN) != 0) _exit(1);
    say(attach_and_detach({.scripts = {"iolat"}, .script_folders = {}}));
  });
  EXPECT_EQ(said, "fine");
  expect_nothing_left();
}

// ---- scripts --------------------------------------------------------------------------------------------------------

TEST_F(Robustness, AScriptWithAnErrorIsNamedWithFileAndLine) {
  const std::string said = attach_and_detach(with("broken", "BEGIN { @a = nofunction(1) }\n"));
  expect_has(said, {"attach: ", "script broken", "nofunction", "correct " + (folder_ / "broken.bt").string()});
  expect_nothing_left();
}

TEST_F(Robustness, AScriptForATracepointThatIsNotThereSaysSo) {
  const std::string said = attach_and_detach(with("absent", "tracepoint:nope:nope /pid == $1/ { @a = count(); }\n"));
  expect_has(said, {"attach: ", "script absent", "nope", "bpftrace -l"});
  expect_nothing_left();
}

TEST_F(Robustness, AScriptThatCallsExitIsRefusedSinceItsCountWouldBeShort) {
  const std::string said = attach_and_detach(with("quits", "interval:ms:1 { exit(); } BEGIN { @a = count(); }\n"));
  expect_has(said, {"make: script quits calls exit()", "take exit() out of " + (folder_ / "quits.bt").string()});
  expect_nothing_left();
}

TEST_F(Robustness, AnUnknownScriptBesideAGoodOneStartsNothing) {
  const std::string said = attach_and_detach({.scripts = {"syslat", "sysclount"}, .script_folders = {}});
  expect_has(said, {"make: there is no script 'sysclount'", "did you mean syscount?"});
  expect_nothing_left();
}

TEST_F(Robustness, ABrokenScriptBesideAGoodOneIsTheOneThatIsNamed) {
  ProfilerOptions options = with("broken", "BEGIN { @a = nofunction(1) }\n");
  options.scripts = {"syslat", "broken", "syscount"};
  expect_has(attach_and_detach(options), {"attach: ", "script broken", "nofunction"});
  expect_nothing_left();
}

TEST_F(Robustness, AScriptThatCountsOutsideTheWindowFailsItsCheck) {
  Result<std::unique_ptr<Profiler>> made = make_bpftrace(
      with("always", "tracepoint:raw_syscalls:sys_enter /pid == $1/ { @syscall_entries[args->id] = count(); }\n" +
                         std::string("tracepoint:raw_syscalls:sys_enter /pid == $1 && args->id == 110/\n") +
                         "{ @syscall_entries[args->id] = count(); }\n"));
  ASSERT_TRUE(made.ok()) << text_of(made.failure());
  const Result<void> checked = made.value()->check();
  ASSERT_FALSE(checked.ok());
  expect_has(text_of(checked.failure()), {"counted 128 of 64 known calls", "the word at $2"});
}

}  // namespace
}  // namespace syscost::profilers
