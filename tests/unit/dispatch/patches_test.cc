// SPDX-License-Identifier: MIT
//
// Patching libc: only what is proven, everything put back.
#include "backends/dispatch/patches.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/dispatch/sites.h"
#include "opened.h"

namespace syscost::dispatch {
namespace {

std::vector<unsigned char> text_now() {
  const Text text = libc_text();
  return {text.begin, text.end};
}

/// The protections of libc's mappings, in order of address, neighbours of one kind together.
std::vector<std::string> protections_of_text() {
  const Text text = libc_text();
  std::vector<std::string> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::size_t end = 0;
    const unsigned long long begin = std::stoull(line, &end, 16);
    const auto* at = reinterpret_cast<const unsigned char*>(begin);
    if (at < text.begin || at >= text.end) continue;
    const std::string protection = line.substr(line.find(' ') + 1, 3);
    if (found.empty() || found.back() != protection) found.push_back(protection);
  }
  return found;
}

TEST(Sites, ProvesOnlyWhatEndsAtASyscall) {
  const Text text = libc_text();
  ASSERT_NE(text.begin, nullptr);
  int proven = 0;
  int syscalls = 0;
  for (const unsigned char* at = text.begin + kLongestInstruction; at + 2 <= text.end; ++at) {
    if (at[0] != 0x0f || at[1] != 0x05) continue;
    ++syscalls;
    const std::optional<Site> site = prove_site(at + 2);
    if (!site.has_value()) continue;
    ++proven;
    EXPECT_EQ(site->displaced + site->displaced_bytes, at);
    EXPECT_GE(site->displaced_bytes, kJumpBytes);
    EXPECT_EQ(site->return_address, at + 2);
  }
  EXPECT_GT(proven, 50) << "of " << syscalls;
  RecordProperty("proven", proven);
  RecordProperty("syscalls", syscalls);
}

TEST(Sites, RefusesWhatIsNotASyscallOfLibc) {
  static const unsigned char kElsewhere[] = {0xb8, 110, 0, 0, 0, 0x0f, 0x05, 0xc3};
  EXPECT_FALSE(prove_site(kElsewhere + 7).has_value());
  EXPECT_FALSE(prove_site(libc_text().begin + 64).has_value());
  EXPECT_FALSE(prove_site(nullptr).has_value());
}

TEST(Patches, ChangesTheHotSiteAndPutsEverythingBack) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  const std::vector<unsigned char> before = text_now();
  const std::vector<std::string> protections = protections_of_text();
  {
    OpenedDispatch opened;
    ASSERT_NE(opened.backend, nullptr);
    EXPECT_NE(text_now(), before) << "nothing was patched: this test tests nothing";
    EXPECT_EQ(protections_of_text(), protections);
    EXPECT_EQ(opened.count(SYS_getppid, [] { syscall(SYS_getppid); }), 1U);
  }
  EXPECT_EQ(text_now(), before);
  EXPECT_EQ(protections_of_text(), protections);
}

TEST(Patches, ReplacesCodeThatOtherThreadsAreRunning) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  std::atomic<bool> is_over{false};
  std::atomic<bool> is_right{true};
  const pid_t parent = getppid();
  std::thread busy([&] {
    while (!is_over) {
      if (getppid() != parent) is_right = false;
    }
  });
  for (int i = 0; i < 5; ++i) {
    OpenedDispatch opened;
    ASSERT_NE(opened.backend, nullptr);
    EXPECT_EQ(getppid(), parent);
  }
  is_over = true;
  busy.join();
  EXPECT_TRUE(is_right);
}

TEST(Patches, NeverTouchesLibcWhenItMayNot) {
  const std::vector<unsigned char> before = text_now();
  OpenedDispatch opened(Patching::never);
  ASSERT_NE(opened.backend, nullptr);
  ASSERT_TRUE(opened.backend->hidden_losses().ok());
  EXPECT_EQ(text_now(), before);
}

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

TEST(PatchesDeathTest, NeverMakesMemoryWritableAndExecutable) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
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

/// What is trapped for the first time after `forbid` stays trapped, is counted, and nothing of it is fatal. At the end
/// libc's code is as it was, or where it `stays`, as it was patched.
void count_when_forbidden_later(void (*forbid)(), bool stays) {
  const std::vector<unsigned char> before = text_now();
  std::string remark;
  {
    OpenedDispatch opened;
    if (text_now() == before) std::_Exit(3);
    forbid();
    const std::vector<unsigned char> patched = text_now();
    auto count_one = [&opened] { return opened.count(SYS_getpgid, [] { getpgid(0); }) == 1; };
    if (!count_one() || !opened.backend->hidden_losses().ok() || !count_one()) std::_Exit(4);
    if (text_now() != patched) std::_Exit(5);
    if (opened.count(SYS_getppid, [] { getppid(); }) != 1) std::_Exit(6);
    remark = opened.backend->remark();
  }
  std::fputs(remark.c_str(), stderr);
  std::_Exit((text_now() != before) == stays ? 0 : 7);
}

TEST(PatchesDeathTest, GoesOnTrappingWhereAFilterForbidsExecutableMemoryLater) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  EXPECT_EXIT(count_when_forbidden_later(forbid_executable_memory, true), testing::ExitedWithCode(0), "seccomp filter");
}

TEST(PatchesDeathTest, GoesOnTrappingWhereTheKernelForbidsExecutableMemoryLater) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  auto can_forbid = [](int status) {
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
  };
  EXPECT_EXIT(count_when_forbidden_later(forbid_executable_memory_by_the_kernel, false), can_forbid, "");
}

TEST(Patches, LeavesTheMappingsOfLibcTheirName) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  OpenedDispatch opened;
  ASSERT_NE(opened.backend, nullptr);
  const Text text = libc_text();
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto* at = reinterpret_cast<const unsigned char*>(std::stoull(line, nullptr, 16));
    if (at < text.begin || at >= text.end) continue;
    EXPECT_NE(line.find("libc"), std::string::npos) << line;
  }
}

TEST(PatchesDeathTest, TrapsEveryCallAndSaysSoWhereTextMayNotBeWritten) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
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

TEST(PatchesDeathTest, TrapsEveryCallAndSaysSoUnderATracer) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
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

TEST(Patches, IsRefusedUnderValgrindWhichIsNamed) {
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
                         " --gtest_filter=Patches.IsRefusedUnderValgrindWhichIsNamed > /dev/null")
                            .c_str()),
            0);
}

}  // namespace
}  // namespace syscost::dispatch
