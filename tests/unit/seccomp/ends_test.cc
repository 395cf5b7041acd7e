// SPDX-License-Identifier: MIT
//
// The ends, in every order, of the measured process, its children, the supervisor and the guard above it; and what each
// leaves.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "in_child.h"
#include "os/message_output.h"

namespace syscost::seccomp {
namespace {

std::string name_of(pid_t process) {
  std::string name;
  std::ifstream comm("/proc/" + std::to_string(process) + "/comm");
  std::getline(comm, name);
  return name;
}

/// From now on the syscall kills the process that makes it; if `first` is given, only with that first argument.
void kill_at(unsigned number, std::optional<unsigned> first = std::nullopt) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | (first.has_value() ? BPF_JEQ : BPF_JGE) | BPF_K, first.value_or(0), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  REQUIRE(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0);
}

TEST_F(SeccompBackendTest, LeavesNoDescriptorAndNoChild) {
  EXPECT_EQ(in_child([] {
              const auto descriptors = [] {
                const std::filesystem::directory_iterator all("/proc/self/fd");
                return std::distance(begin(all), end(all));
              };
              const auto before = descriptors();
              const auto backend = open_here();
              REQUIRE(descriptors() == before);
              REQUIRE(waitpid(-1, nullptr, WNOHANG | __WALL) == -1 && errno == ECHILD);
            }),
            0);
}

TEST_F(SeccompBackendTest, AProcessThatAdoptsOrphansGetsNoneThatWaitSees) {
  EXPECT_EQ(in_child([] {
              REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
              const auto backend = open_here();
              REQUIRE(waitpid(-1, nullptr, 0) == -1 && errno == ECHILD);
              REQUIRE(entries_of(*backend, kGetppid, [] { repeat(9, SYS_getppid); }) == 9);
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
              const pid_t server = find_supervisor(getpid(), "syscost-count");
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

TEST_F(SeccompBackendTest, AKilledGuardIsReplacedToo) {
  EXPECT_EQ(in_child([] {
              const auto backend = open_here();
              const pid_t guard = find_supervisor(getpid(), "syscost-guard");
              const pid_t server = find_supervisor(getpid(), "syscost-count");
              REQUIRE(guard != 0 && server != 0);
              REQUIRE(kill(guard, SIGKILL) == 0);
              // The server takes its place, with another server below it.
              while (name_of(server) != "syscost-guard" || find_below(server, "syscost-count") == 0) usleep(1000);
              REQUIRE(kill(find_below(server, "syscost-count"), SIGKILL) == 0);
              for (int i = 0; i < 100; ++i) REQUIRE(syscall(SYS_getppid) > 0);
            }),
            0);
}

TEST_F(SeccompBackendTest, AGuardThatIsKilledWhenTheFilterIsThereEndsTheProcessWithAWord) {
  int messages[2];
  ASSERT_EQ(pipe(messages), 0);
  const int status = in_child([&] {
    dup2(messages[1], STDERR_FILENO);
    note_message_output();
    // The guard's first call when the filter is there.
    kill_at(SYS_setsid);
    // Every call would fail from here on, also the one that ends a process.
    static_cast<void>(open_backend());
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 2) << status;
  close(messages[1]);
  std::array<char, 1000> text{};
  EXPECT_GT(read(messages[0], text.data(), text.size() - 1), 0);
  EXPECT_NE(std::string_view(text.data()).find("was killed while it started"), std::string_view::npos) << text.data();
  close(messages[0]);
}

TEST_F(SeccompBackendTest, AGuardThatIsKilledBeforeTheFilterIsThereLeavesTheProcessAsItWas) {
  EXPECT_EQ(in_child([] {
              // One of the guard's first calls, which no other process makes.
              kill_at(SYS_prctl, PR_SET_PDEATHSIG);
              REQUIRE(!open_backend().ok());
              REQUIRE(syscall(SYS_getuid) == static_cast<long>(getuid()));
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
    const pid_t both[] = {find_supervisor(getpid(), "syscost-guard"), find_supervisor(getpid(), "syscost-count")};
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
  // Only the supervisor is left, and it must not hold the pipe.
  EXPECT_EQ(read(answer[0], &byte, 1), 0);
}

}  // namespace
}  // namespace syscost::seccomp
