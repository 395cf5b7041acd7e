// SPDX-License-Identifier: MIT
//
// SeccompBackendTest: the backend and its supervisor, as processes. A filter stays for good, so every body runs in a
// child of its own, which answers by its exit status; what failed there it says on stderr.
#pragma once

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "backends/seccomp/installation.h"
#include "backends/seccomp/seccomp_backend.h"
#include "os/memory.h"

namespace syscost::seccomp {

inline constexpr SyscallId kGetppid{kNativeAbi, SYS_getppid};
inline constexpr SyscallId kGetuid{kNativeAbi, SYS_getuid};

#define REQUIRE(condition)                                                         \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      _exit(1);                                                                    \
    }                                                                              \
  } while (false)

/// The exit status of `body` in a child.
inline int in_child(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

inline std::unique_ptr<Backend> open_here(const Filter* filter = nullptr) {
  Result<std::unique_ptr<Backend>> backend = open_backend({.filter = filter});
  if (!backend.ok()) std::fprintf(stderr, "%s\n", backend.failure().reason.c_str());
  REQUIRE(backend.ok());
  return std::move(backend.value());
}

/// The entries of `body` on the process lane.
inline std::uint64_t entries_of(Backend& backend, SyscallId id, const std::function<void()>& body) {
  backend.boundary(Lane::kProcess, Next::kArm);
  body();
  backend.boundary(Lane::kProcess, Next::kDisarm);
  CallTable table(&quiet_memory());
  backend.read(Lane::kProcess, table);
  return table.at(id).entries;
}

inline void repeat(int times, long number) {
  for (int i = 0; i < times; ++i) syscall(number);
}

/// The process of that name below `parent`, or 0.
inline pid_t find_below(pid_t parent, const std::string& wanted) {
  const std::string folder = "/proc/" + std::to_string(parent);
  std::ifstream children(folder + "/task/" + std::to_string(parent) + "/children");
  for (pid_t child = 0; children >> child;) {
    std::string name;
    std::ifstream comm("/proc/" + std::to_string(child) + "/comm");
    std::getline(comm, name);
    if (name == wanted) return child;
    if (const pid_t below = find_below(child, wanted); below != 0) return below;
  }
  return 0;
}

/// The process of that name in the supervisor of `measured`, or 0. It is no child: what it holds of `measured` says
/// whose it is.
inline pid_t find_supervisor(pid_t measured, const std::string& wanted) {
  const std::string its = "Pid:\t" + std::to_string(measured);
  std::error_code ignored;
  for (const auto& process : std::filesystem::directory_iterator("/proc", ignored)) {
    std::string line;
    std::ifstream comm(process.path() / "comm");
    if (!std::getline(comm, line) || line != wanted) continue;
    for (const auto& descriptor : std::filesystem::directory_iterator(process.path() / "fdinfo", ignored)) {
      std::ifstream info(descriptor.path());
      while (std::getline(info, line)) {
        if (line == its) return std::stoi(process.path().filename());
      }
    }
  }
  return 0;
}

class SeccompBackendTest : public testing::Test {
 protected:
  void SetUp() override {
    const Result<void> works = probe_backend();
    if (!works.ok()) GTEST_SKIP() << works.failure().reason << ' ' << works.failure().how_to_fix;
  }
};

}  // namespace syscost::seccomp
