// SPDX-License-Identifier: MIT
//
// Patching libc where a filter, the kernel, a tracer or valgrind forbids it.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "patched_libc.h"

namespace syscost::dispatch {
namespace {

/// The calls that set a protection, each with the number of the argument that is it.
constexpr std::pair<std::uint32_t, std::uint32_t> kProtecting[] = {
    {SYS_mprotect, 2}, {SYS_pkey_mprotect, 2}, {SYS_mmap, 2}};

/// From here on `call` is answered with `answer` where its protection has all of `bits`.
void answer_protecting(std::uint32_t call, std::uint32_t argument, std::uint32_t bits, std::uint32_t answer) {
  const auto protection = static_cast<std::uint32_t>(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t));
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, protection),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, bits, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {std::size(filter), filter};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/// As SELinux does.
void forbid_executable_memory() {
  answer_protecting(SYS_mprotect, 2, PROT_EXEC, SECCOMP_RET_ERRNO | EACCES);
}

void forbid_executable_memory_by_the_kernel() {
  constexpr int kSetMdwe = 65;  // PR_SET_MDWE, missing in older headers
  if (prctl(kSetMdwe, 1, 0, 0, 0) != 0) std::_Exit(77);
}

TEST_F(PatchedLibcDeathTest, NeverMakesMemoryWritableAndExecutable) {
  auto count_under_filter = [] {
    for (auto [call, argument] : kProtecting) {
      answer_protecting(call, argument, PROT_WRITE | PROT_EXEC, SECCOMP_RET_KILL_PROCESS);
    }
    const std::vector<unsigned char> before = text_now();
    {
      OpenedDispatch opened;
      const bool is_patched = text_now() != before && opened.backend->remark().empty();
      if (!is_patched || opened.count(SYS_getppid, [] { getppid(); }) != 1) std::_Exit(1);
    }
    std::_Exit(text_now() == before ? 0 : 2);
  };
  EXPECT_EXIT(count_under_filter(), testing::ExitedWithCode(0), "");
}

/// A site patched before `forbid` is counted after it, and nothing of it is fatal. At the end libc's code is as it
/// was, or where it `stays`, as it was patched.
void count_when_forbidden_later(void (*forbid)(), bool stays) {
  const std::vector<unsigned char> before = text_now();
  {
    OpenedDispatch opened;
    if (text_now() == before) std::_Exit(3);
    forbid();
    const std::vector<unsigned char> patched = text_now();
    auto count_one = [&opened] { return opened.count(SYS_getpgid, [] { getpgid(0); }) == 1; };
    if (!count_one() || !opened.backend->hidden_losses().ok() || !count_one()) std::_Exit(4);
    if (text_now() != patched) std::_Exit(5);
    if (opened.count(SYS_getppid, [] { getppid(); }) != 1) std::_Exit(6);
    if (!opened.backend->remark().empty()) std::_Exit(8);
  }
  std::_Exit((text_now() != before) == stays ? 0 : 7);
}

TEST_F(PatchedLibcDeathTest, CountsOnWhereAFilterForbidsExecutableMemoryLater) {
  EXPECT_EXIT(count_when_forbidden_later(forbid_executable_memory, true), testing::ExitedWithCode(0), "");
}

TEST_F(PatchedLibcDeathTest, CountsOnWhereTheKernelForbidsExecutableMemoryLater) {
  auto can_forbid = [](int status) {
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
  };
  EXPECT_EXIT(count_when_forbidden_later(forbid_executable_memory_by_the_kernel, false), can_forbid, "");
}

TEST_F(PatchedLibcDeathTest, ArePutNowhereOnceTheProgramHasAFilter) {
  auto open_after_filter = [] {
    {
      OpenedDispatch opened(Patching::never);
      answer_protecting(SYS_mprotect, 2, PROT_EXEC, SECCOMP_RET_KILL_PROCESS);
    }
    OpenedDispatch opened;
    std::fputs(opened.backend->remark().c_str(), stderr);
    std::_Exit(opened.count(SYS_getppid, [] { getppid(); }) == 1 ? 0 : 1);
  };
  EXPECT_EXIT(open_after_filter(), testing::ExitedWithCode(0), "none patched: the program has installed a seccomp");
}

TEST_F(PatchedLibcDeathTest, TrapsEveryCallAndSaysSoWhereTextMayNotBeWritten) {
  auto count_under_filter = [] {
    forbid_executable_memory();
    const std::vector<unsigned char> before = text_now();
    OpenedDispatch opened;
    const bool is_right = opened.count(SYS_getppid, [] { getppid(); }) == 1 && text_now() == before;
    std::fputs(opened.backend->remark().c_str(), stderr);
    std::_Exit(is_right ? 0 : 1);
  };
  EXPECT_EXIT(count_under_filter(), testing::ExitedWithCode(0), "none patched: memory may not be");
}

TEST_F(PatchedLibcDeathTest, TrapsEveryCallAndSaysSoUnderATracer) {
  // The tracer is this process: it lets every signal through.
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    OpenedDispatch opened;
    const bool is_right = opened.count(SYS_getppid, [] { getppid(); }) == 1 &&
                          opened.backend->remark().find("none patched: a debugger or tracer") != std::string::npos;
    std::_Exit(is_right ? 0 : 1);
  }
  int status = 0;
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    ptrace(PTRACE_CONT, child, nullptr, WSTOPSIG(status));
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Patching, IsRefusedUnderValgrindWhichIsNamed) {
  const char* const preloaded = std::getenv("LD_PRELOAD");
  if (preloaded != nullptr && std::strstr(preloaded, "/vgpreload_") != nullptr) {
    Result<std::unique_ptr<Backend>> opened = open_backend(Patching::allowed);
    ASSERT_FALSE(opened.ok());
    EXPECT_NE(opened.failure().reason.find("valgrind"), std::string::npos) << opened.failure().reason;
    return;
  }
  if (kIsSanitized) GTEST_SKIP() << "valgrind runs no sanitized program";
  if (std::system("command -v valgrind > /dev/null") != 0) GTEST_SKIP() << "valgrind is not installed";
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  EXPECT_EQ(std::system(("valgrind -q --error-exitcode=9 --tool=none " + self +
                         " --gtest_filter=Patching.IsRefusedUnderValgrindWhichIsNamed > /dev/null")
                            .c_str()),
            0);
}

}  // namespace
}  // namespace syscost::dispatch
