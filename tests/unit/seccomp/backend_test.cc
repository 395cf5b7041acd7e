// SPDX-License-Identifier: MIT
//
// The backend and its supervisor, as processes. A filter stays for good, so every body runs in a child of its own,
// which answers by its exit status; what failed there it says on stderr.
#include "backends/seccomp/seccomp_backend.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "core/confinement.h"
#include "core/quiet_memory.h"

namespace syscost::seccomp {
namespace {

constexpr SyscallId kGetppid{kNativeAbi, SYS_getppid};
constexpr SyscallId kGetuid{kNativeAbi, SYS_getuid};

#define REQUIRE(condition)                                                         \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      _exit(1);                                                                    \
    }                                                                              \
  } while (false)

/// The exit status of `body` in a child.
int in_child(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

std::unique_ptr<Backend> open_here(const Filter* filter = nullptr) {
  Result<std::unique_ptr<Backend>> backend = open_backend(filter);
  if (!backend.ok()) std::fprintf(stderr, "%s\n", backend.failure().reason.c_str());
  REQUIRE(backend.ok());
  return std::move(backend.value());
}

/// What `body` enters, by the process lane.
std::uint64_t entries_of(Backend& backend, SyscallId id, const std::function<void()>& body) {
  backend.boundary(Lane::kProcess, Next::kArm);
  body();
  backend.boundary(Lane::kProcess, Next::kDisarm);
  CallTable table(&quiet_memory());
  backend.read(Lane::kProcess, table);
  return table.at(id).entries;
}

void repeat(int times, long number) {
  for (int i = 0; i < times; ++i) syscall(number);
}

/// Answers the syscall with EPERM from now on, as a container engine's profile does.
void deny(unsigned number) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  REQUIRE(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0);
}

/// The process of that name below `parent`, or 0.
pid_t find_below(pid_t parent, const std::string& wanted) {
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

class SeccompBackendTest : public testing::Test {
 protected:
  void SetUp() override {
    const Result<void> works = probe_backend();
    if (!works.ok()) GTEST_SKIP() << works.failure().reason << ' ' << works.failure().how_to_fix;
  }
};

TEST_F(SeccompBackendTest, CountsEveryThreadOfTheProcessAndNoChild) {
  EXPECT_EQ(in_child([] {
              const auto backend = open_here();
              const std::uint64_t counted = entries_of(*backend, kGetppid, [] {
                repeat(10, SYS_getppid);
                std::thread([] { repeat(100, SYS_getppid); }).join();
                REQUIRE(in_child([] { repeat(1000, SYS_getppid); }) == 0);
              });
              REQUIRE(counted == 110);
            }),
            0);
}

TEST_F(SeccompBackendTest, CountsChildrenByProgramWhenAskedTo) {
  EXPECT_EQ(in_child([] {
              Result<std::unique_ptr<Backend>> opened = open_backend(nullptr, true);
              REQUIRE(opened.ok() && opened.value()->capabilities().children);
              Backend& backend = *opened.value();
              REQUIRE(entries_of(backend, kGetppid, [] {
                        repeat(10, SYS_getppid);
                        REQUIRE(in_child([] {
                                  repeat(1000, SYS_getppid);
                                  execl("/proc/self/exe", "again", "--gtest_list_tests", "--gtest_filter=-*", nullptr);
                                }) == 0);
                      }) == 10);
              ChildTables children(&quiet_memory());
              backend.read_children(children);
              const CallTable& own = children.at("syscost_seccomp_unit_tests");
              REQUIRE(own.find(kGetppid)->entries == 1000);
              REQUIRE(own.find({kNativeAbi, SYS_execve})->entries == 1);
              REQUIRE(own.find({kNativeAbi, SYS_exit_group})->entries == 1);
              // What was read is gone.
              ChildTables again(&quiet_memory());
              entries_of(backend, kGetppid, [] {});
              backend.read_children(again);
              REQUIRE(again.empty());
            }),
            0);
}

TEST_F(SeccompBackendTest, NotifiesOnlyWhatTheFilterSelects) {
  EXPECT_EQ(in_child([] {
              const auto filter = Filter::parse("getuid");
              const auto backend = open_here(filter.value().get());
              const auto both = [] {
                repeat(5, SYS_getppid);
                repeat(7, SYS_getuid);
              };
              REQUIRE(entries_of(*backend, kGetuid, both) == 7);
              REQUIRE(entries_of(*backend, kGetppid, both) == 0);
            }),
            0);
}

TEST_F(SeccompBackendTest, LeavesTheProgramsFilesOpenUnderAProfileThatDeniesUnshare) {
  EXPECT_EQ(in_child([] {
              deny(SYS_unshare);
              int ends[2] = {-1, -1};
              REQUIRE(pipe(ends) == 0);
              const auto backend = open_here();
              REQUIRE(entries_of(*backend, kGetppid, [] { repeat(3, SYS_getppid); }) == 3);
              REQUIRE(write(ends[1], "x", 1) == 1);
            }),
            0);
}

TEST_F(SeccompBackendTest, RefusesWhereItsSupervisorCouldNotPartFromTheProgramsFiles) {
  EXPECT_EQ(in_child([] {
              deny(SYS_close_range);
              const Result<std::unique_ptr<Backend>> backend = open_backend(nullptr);
              REQUIRE(!backend.ok());
              REQUIRE(backend.failure().reason.find("close_range") != std::string::npos);
              REQUIRE(backend.failure().how_to_fix.find("seccomp profile") != std::string::npos);
            }),
            0);
}

TEST_F(SeccompBackendTest, TellsAThreadInAScopeFromTheOthers) {
  EXPECT_EQ(in_child([] {
              const auto backend = open_here();
              const std::optional<AcquiredLane> lane = backend->acquire_lane();
              REQUIRE(lane.has_value());
              backend->boundary(lane->lane, Next::kArm);
              repeat(3, SYS_getppid);
              std::thread([] { repeat(100, SYS_getppid); }).join();
              backend->boundary(lane->lane, Next::kFollowProcess);
              CallTable table(&quiet_memory());
              backend->read(lane->lane, table);
              REQUIRE(table.at(kGetppid).entries == 3);
            }),
            0);
}

TEST_F(SeccompBackendTest, LeavesNoDescriptorAndNoChildThatWaitSees) {
  EXPECT_EQ(in_child([] {
              const auto descriptors = [] {
                const std::filesystem::directory_iterator all("/proc/self/fd");
                return std::distance(begin(all), end(all));
              };
              const auto before = descriptors();
              const auto backend = open_here();
              REQUIRE(descriptors() == before);
              REQUIRE(waitpid(-1, nullptr, 0) == -1 && errno == ECHILD);
            }),
            0);
}

TEST_F(SeccompBackendTest, SurvivesAProgramThatClosesEveryDescriptor) {
  EXPECT_EQ(in_child([] {
              const auto backend = open_here();
              syscall(SYS_close_range, 3U, ~0U, 0U);
              REQUIRE(entries_of(*backend, kGetppid, [] { repeat(9, SYS_getppid); }) == 9);
              REQUIRE(backend->hidden_losses().ok());
            }),
            0);
}

TEST_F(SeccompBackendTest, AKilledSupervisorIsReplacedAndItsCountsAreVoid) {
  EXPECT_EQ(in_child([] {
              auto backend = open_here();
              const pid_t server = find_below(getpid(), "syscost-count");
              REQUIRE(server != 0);
              backend->boundary(Lane::kProcess, Next::kArm);
              REQUIRE(kill(server, SIGKILL) == 0);
              // Answered by the next one, or these would stand still for ever, or fail.
              for (int i = 0; i < 100; ++i) REQUIRE(syscall(SYS_getppid) > 0);
              backend->boundary(Lane::kProcess, Next::kDisarm);
              REQUIRE(!backend->hidden_losses().ok());
              backend = open_here();
              REQUIRE(entries_of(*backend, kGetppid, [] { repeat(11, SYS_getppid); }) == 11);
              REQUIRE(backend->hidden_losses().ok());
            }),
            0);
}

std::string name_of(pid_t process) {
  std::string name;
  std::ifstream comm("/proc/" + std::to_string(process) + "/comm");
  std::getline(comm, name);
  return name;
}

TEST_F(SeccompBackendTest, AKilledGuardIsReplacedToo) {
  EXPECT_EQ(in_child([] {
              const auto backend = open_here();
              const pid_t guard = find_below(getpid(), "syscost-guard");
              const pid_t server = find_below(getpid(), "syscost-count");
              REQUIRE(guard != 0 && server != 0);
              REQUIRE(kill(guard, SIGKILL) == 0);
              // The server takes its place, with another server below it.
              while (name_of(server) != "syscost-guard" || find_below(server, "syscost-count") == 0) usleep(1000);
              REQUIRE(kill(find_below(server, "syscost-count"), SIGKILL) == 0);
              for (int i = 0; i < 100; ++i) REQUIRE(syscall(SYS_getppid) > 0);
            }),
            0);
}

TEST_F(SeccompBackendTest, NoSupervisorOutlivesAKilledProcess) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto backend = open_here();
    backend->boundary(Lane::kProcess, Next::kArm);
    const pid_t both[] = {find_below(getpid(), "syscost-guard"), find_below(getpid(), "syscost-count")};
    REQUIRE(write(ready[1], both, sizeof both) == sizeof both);
    for (;;) syscall(SYS_getppid);
  }
  pid_t both[2] = {};
  ASSERT_EQ(read(ready[0], both, sizeof both), static_cast<ssize_t>(sizeof both));
  std::vector<pollfd> ends;
  for (const pid_t process : both) ends.push_back({static_cast<int>(syscall(SYS_pidfd_open, process, 0)), POLLIN, 0});
  kill(child, SIGKILL);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  for (pollfd& end : ends) {
    EXPECT_EQ(poll(&end, 1, 20'000), 1);
    close(end.fd);
  }
}

/// As on Linux before 5.19: the kernel does not know the flag that keeps signals from a call that was received.
void deny_wait_killable() {
  constexpr unsigned kWaitKillable = 1U << 5;
  const sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args) + sizeof(std::uint64_t)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kWaitKillable, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(code), const_cast<sock_filter*>(code)};
  REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  REQUIRE(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
}

TEST_F(SeccompBackendTest, CountsOnAKernelWithoutWaitKillable) {
  EXPECT_EQ(in_child([] {
              deny_wait_killable();
              const auto backend = open_here();
              REQUIRE(entries_of(*backend, kGetppid, [] { repeat(500, SYS_getppid); }) == 500);
              REQUIRE(in_child([] { repeat(10, SYS_getppid); }) == 0);
            }),
            0);
}

TEST_F(SeccompBackendTest, WhatTheFilterLeavesOutNeverWaitsForTheSupervisor) {
  EXPECT_EQ(in_child([] {
              const auto filter = Filter::parse("getuid");
              const auto backend = open_here(filter.value().get());
              // With getppid left out nothing was counted yet, so it may still be about to start.
              pid_t server = 0;
              while (server == 0) server = find_below(getpid(), "syscost-count");
              // Stopped, it answers nobody: a call that were notified would never return.
              REQUIRE(kill(server, SIGSTOP) == 0);
              repeat(1000, SYS_getppid);
              REQUIRE(kill(server, SIGCONT) == 0);
              REQUIRE(entries_of(*backend, kGetuid, [] { repeat(7, SYS_getuid); }) == 7);
            }),
            0);
}

TEST_F(SeccompBackendTest, AChildThatOutlivesTheRunGoesOn) {
  int go[2], answer[2];
  ASSERT_EQ(pipe(go), 0);
  ASSERT_EQ(pipe(answer), 0);
  EXPECT_EQ(in_child([&] {
              const auto backend = open_here();
              if (fork() != 0) return;
              char byte = 0;
              close(go[1]);
              // The measured process is gone when the other end is closed.
              REQUIRE(read(go[0], &byte, 1) == 0);
              byte = syscall(SYS_getuid) >= 0 ? 'y' : 'n';
              REQUIRE(write(answer[1], &byte, 1) == 1);
            }),
            0);
  close(go[1]);
  close(answer[1]);
  char byte = 0;
  EXPECT_EQ(read(answer[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  // Nobody but the supervisor is left, and it must not hold the pipe.
  EXPECT_EQ(read(answer[0], &byte, 1), 0);
}

TEST_F(SeccompBackendTest, AProgramStartedByAMeasuredOneIsRefusedWithTheReason) {
  EXPECT_EQ(in_child([] {
              const auto backend = open_here();
              REQUIRE(in_child([] {
                        const Result<std::unique_ptr<Backend>> second = open_backend(nullptr);
                        REQUIRE(!second.ok());
                        REQUIRE(second.failure().reason.find("one listener") != std::string::npos);
                        REQUIRE(!second.failure().how_to_fix.empty());
                      }) == 0);
            }),
            0);
}

TEST_F(SeccompBackendTest, CannotBeTakenOff) {
  EXPECT_EQ(in_child([] { REQUIRE(!open_here()->detach().ok()); }), 0);
}

TEST_F(SeccompBackendTest, KeepsPrivilegesGainableWhereTheKernelAllowsIt) {
  if ((read_confinement().effective >> CAP_SYS_ADMIN & 1) == 0) GTEST_SKIP() << "needs CAP_SYS_ADMIN: run as root";
  EXPECT_EQ(in_child([] {
              const auto backend = open_here();
              REQUIRE(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0);
            }),
            0);
}

}  // namespace
}  // namespace syscost::seccomp
