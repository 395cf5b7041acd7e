// SPDX-License-Identifier: MIT
//
// The calls that the seccomp backend counts, and under which filters and kernels.
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "core/extensions.h"
#include "in_child.h"
#include "no_wait_killable.h"
#include "os/confinement.h"

namespace syscost::seccomp {
namespace {

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

TEST_F(SeccompBackendTest, DoesNotCountFunctionsOfTheVsyscallPage) {
  std::ifstream maps("/proc/self/maps");
  const std::string all{std::istreambuf_iterator<char>(maps), {}};
  if (all.find("[vsyscall]") == std::string::npos) GTEST_SKIP() << "this kernel has no vsyscall page";
  EXPECT_EQ(in_child([] {
              const auto backend = open_here();
              const std::uint64_t counted = entries_of(*backend, {kNativeAbi, SYS_gettimeofday}, [] {
                const auto of_the_page = reinterpret_cast<int (*)(timeval*, void*)>(0xffff'ffff'ff60'0000);
                timeval now{};
                for (int i = 0; i < 5; ++i) of_the_page(&now, nullptr);
                REQUIRE(now.tv_sec > 0);
                repeat(3, SYS_gettimeofday);
              });
              REQUIRE(counted == 3);
            }),
            0);
}

/// Installs a filter that answers getuid so, by either call that can.
void install(unsigned answer, bool by_prctl) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getuid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  REQUIRE(by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0
                   : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0);
}

TEST_F(SeccompBackendTest, SaysThatATracerOfAFilterWasNotAsked) {
  for (const bool by_prctl : {false, true}) {
    for (const bool in_a_child : {false, true}) {
      EXPECT_EQ(in_child([&] {
                  const Result<std::shared_ptr<const Filter>> only =
                      Filter::parse("getppid");  // neither prctl nor seccomp
                  REQUIRE(only.ok());
                  const auto backend = open_here(only.value().get());
                  const auto body = [&] { install(SECCOMP_RET_TRACE | 7, by_prctl); };
                  if (in_a_child) {
                    REQUIRE(in_child(body) == 0);
                  } else {
                    body();
                  }
                  const Result<std::uint64_t> losses = backend->hidden_losses();
                  REQUIRE(!losses.ok() && losses.failure().reason.find("SECCOMP_RET_TRACE") != std::string::npos);
                  REQUIRE(backend->hidden_losses().ok());  // of the windows that follow nothing is known
                }),
                0);
    }
  }
}

TEST_F(SeccompBackendTest, SaysNothingOfFiltersThatAskNoTracer) {
  EXPECT_EQ(in_child([] {
              const auto backend = open_here();
              install(SECCOMP_RET_ERRNO | EPERM, false);
              install(SECCOMP_RET_KILL_PROCESS, true);
              REQUIRE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr) == -1);
              REQUIRE(backend->hidden_losses().ok());
            }),
            0);
}

TEST_F(SeccompBackendTest, IsRefusedUnderValgrindWhichIsNamed) {
  EXPECT_EQ(in_child([] {
              setenv("LD_PRELOAD", "/usr/libexec/valgrind/vgpreload_core-amd64-linux.so", 1);
              const Result<std::unique_ptr<Backend>> opened = open_backend();
              REQUIRE(!opened.ok() && opened.failure().reason.find("valgrind") != std::string::npos);
            }),
            0);
}

TEST_F(SeccompBackendTest, CountsUnderALimitOfFilesSizes) {
  EXPECT_EQ(in_child([] {
              const rlimit nothing{0, 0};
              REQUIRE(setrlimit(RLIMIT_FSIZE, &nothing) == 0);
              const auto backend = open_here();
              REQUIRE(entries_of(*backend, kGetppid, [] { repeat(10, SYS_getppid); }) == 10);
            }),
            0);
}

TEST_F(SeccompBackendTest, CountsChildrenByProgramWhenAskedTo) {
  EXPECT_EQ(in_child([] {
              Result<std::unique_ptr<Backend>> opened = open_backend(BackendRequest().add(OtherProgramsWish{}));
              REQUIRE(opened.ok() && opened.value()->capabilities().programs);
              Backend& backend = *opened.value();
              REQUIRE(entries_of(backend, kGetppid, [] {
                        repeat(10, SYS_getppid);
                        REQUIRE(in_child([] {
                                  repeat(1000, SYS_getppid);
                                  execl("/bin/true", "true", nullptr);
                                }) == 0);
                      }) == 10);
              ProgramTables children(&quiet_memory());
              backend.extension<ProgramReader>()->read_programs(children);
              const CallTable& own = children.at("syscost_seccomp_unit_tests");
              REQUIRE(own.find(kGetppid)->entries == 1000);
              REQUIRE(own.find({kNativeAbi, SYS_execve})->entries == 1);
              REQUIRE(own.find({kNativeAbi, SYS_exit_group}) == nullptr);
              REQUIRE(children.at("true").find({kNativeAbi, SYS_exit_group})->entries == 1);
              // Counts that were read are cleared.
              ProgramTables again(&quiet_memory());
              entries_of(backend, kGetppid, [] {});
              backend.extension<ProgramReader>()->read_programs(again);
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
              const Result<std::unique_ptr<Backend>> backend = open_backend();
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
              while (server == 0) server = find_supervisor(getpid(), "syscost-count");
              // A stopped server answers no call. So a call that notified it would never return.
              REQUIRE(kill(server, SIGSTOP) == 0);
              repeat(1000, SYS_getppid);
              REQUIRE(kill(server, SIGCONT) == 0);
              REQUIRE(entries_of(*backend, kGetuid, [] { repeat(7, SYS_getuid); }) == 7);
            }),
            0);
}

TEST_F(SeccompBackendTest, AProgramStartedByAMeasuredOneIsRefusedWithTheReason) {
  EXPECT_EQ(in_child([] {
              const auto backend = open_here();
              REQUIRE(in_child([] {
                        const Result<std::unique_ptr<Backend>> second = open_backend();
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
