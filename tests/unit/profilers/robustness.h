// SPDX-License-Identifier: MIT
//
// Robustness: tests of what goes wrong beside a window. Each does its harm in a process of its own, with a TMPDIR of
// its own. The TMPDIR marks the tools of that process.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <poll.h>
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
#include <vector>

#include "os/confinement.h"
#include "traced.h"

namespace syscost::profilers {

namespace fs = std::filesystem;

inline std::string read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::string read_until_end(int fd) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = read(fd, part.data(), part.size())) > 0;) text.append(part.data(), got);
  return text;
}

/// A child that writes its report to its descriptor 0, so that it may close all others.
struct Child {
  pid_t pid = -1;
  int report = -1;
};

inline void say(const std::string& text) {
  if (write(0, text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(9);
}

inline Child start(const std::function<void()>& body) {
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

inline std::string finish(const Child& child) {
  std::string text = read_until_end(child.report);
  close(child.report);
  int status = 0;
  waitpid(child.pid, &status, 0);
  if (status != 0) text += " [wait status " + std::to_string(status) + "]";
  return text;
}

inline std::string in_child(const std::function<void()>& body) {
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

  /// Launcher, bpftrace and gate of the children: all processes that were started with our TMPDIR. The children
  /// themselves are not counted: fork() copies this program, so /proc shows the environment that this program started
  /// with.
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

  /// The outcome when `options` are attached and detached.
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

inline void expect_has(const std::string& text, const std::vector<std::string>& all) {
  for (const std::string& part : all) EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
}

inline constexpr const char* kNeedsNamespaces =
    "making namespaces and mounts takes CAP_SYS_ADMIN, which a container lacks";
inline bool may_make_namespaces() {
  return holds(read_confinement().effective, CAP_SYS_ADMIN);
}

}  // namespace syscost::profilers
