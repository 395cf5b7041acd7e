// SPDX-License-Identifier: MIT
//
// Patching libc: only what is proven, everything put back.
#include "backends/dispatch/patches.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

#include "backends/dispatch/patch_plan.h"
#include "backends/dispatch/sites.h"
#include "backends/dispatch/stub/state.h"
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

TEST(Patches, ChangesTheHotSiteAndPutsEverythingBack) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  // Where other threads were running, a test before this one has left bridges.
  OpenedDispatch();
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

/// Calls what is patched until it is told to stop: by a long jump, by way of a bridge, and in handlers.
class BusyThread {
 public:
  BusyThread() {
    parent_ = getppid();
    thread_ = std::thread([this] { run(); });
  }
  bool stop() {
    is_over_ = true;
    thread_.join();
    return is_right_;
  }
  void interrupt() { pthread_kill(thread_.native_handle(), SIGUSR2); }

  static bool calls_are_right() {
    char zeros[8] = "\1\1\1\1\1\1\1";
    return getppid() == parent_ && read(zero_, zeros, sizeof zeros) == sizeof zeros && zeros[0] == 0 && zeros[7] == 0 &&
           lseek(-1, 0, SEEK_CUR) == -1 && errno == EBADF;
  }

 private:
  void run() {
    while (!is_over_) {
      if (!calls_are_right()) is_right_ = false;
    }
  }

  /// Of the process that made the last thread: a death test is a process of its own.
  static inline std::atomic<pid_t> parent_{0};
  static inline const int zero_ = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  std::atomic<bool> is_over_{false};
  std::atomic<bool> is_right_{true};
  std::thread thread_;
};

TEST(Patches, ReplacesCodeThatOtherThreadsAreRunning) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  static std::atomic<bool> is_right_in_handlers{true};
  struct sigaction action = {};
  action.sa_handler = [](int) {
    const int before = errno;
    if (!BusyThread::calls_are_right()) is_right_in_handlers = false;
    errno = before;
  };
  ASSERT_EQ(sigaction(SIGUSR2, &action, nullptr), 0);
  std::array<BusyThread, 4> busy;
  for (int i = 0; i < 10; ++i) {
    for (BusyThread& thread : busy) thread.interrupt();
    OpenedDispatch opened;
    ASSERT_NE(opened.backend, nullptr);
    for (BusyThread& thread : busy) thread.interrupt();
    EXPECT_TRUE(BusyThread::calls_are_right());
  }
  for (BusyThread& thread : busy) EXPECT_TRUE(thread.stop());
  EXPECT_TRUE(is_right_in_handlers);
  signal(SIGUSR2, SIG_DFL);
}

/// Threads that are born while calls are counted, so that each of their reads is.
TEST(Patches, CountEachReadOfManyThreads) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  OpenedDispatch opened;
  ASSERT_NE(opened.backend, nullptr);
  constexpr int kThreads = 8;
  constexpr int kReads = 5000;
  std::atomic<std::uint64_t> done{0};
  const std::uint64_t counted = opened.count(SYS_read, [&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&done] {
        char byte = 0;
        for (int read_so_far = 0; read_so_far < kReads; ++read_so_far) {
          if (read(-1, &byte, 1) == -1) ++done;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(done, static_cast<std::uint64_t>(kThreads) * kReads);
  EXPECT_EQ(counted, done);
}

TEST(Patches, TrapsNoReadOfLibc) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  OpenedDispatch opened;
  ASSERT_NE(opened.backend, nullptr);
  char byte = 0;
  std::atomic_ref trapped(syscost_state.trapped);
  const std::uint64_t before = trapped.load();
  EXPECT_EQ(opened.count(SYS_read, [&byte] { EXPECT_EQ(read(-1, &byte, 1), -1); }), 1U);
  EXPECT_EQ(trapped.load(), before);
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

/// What was patched before `forbid` is counted after it, and nothing of it is fatal. At the end libc's code is as it
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

TEST(PatchesDeathTest, CountsOnWhereAFilterForbidsExecutableMemoryLater) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  EXPECT_EXIT(count_when_forbidden_later(forbid_executable_memory, true), testing::ExitedWithCode(0), "");
}

TEST(PatchesDeathTest, CountsOnWhereTheKernelForbidsExecutableMemoryLater) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  auto can_forbid = [](int status) {
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
  };
  EXPECT_EXIT(count_when_forbidden_later(forbid_executable_memory_by_the_kernel, false), can_forbid, "");
}

/// By the program, on the page of a patched site.
void write_over(unsigned char* at, unsigned char value) {
  auto* const page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) & ~(kPage - 1));
  ASSERT_EQ(mprotect(page, kPage, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
  *at = value;
  ASSERT_EQ(mprotect(page, kPage, PROT_READ | PROT_EXEC), 0);
}

TEST(PatchesDeathTest, LeaveWhatTheProgramWritesOverLibc) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  auto hook_while_open = [] {
    auto* const function = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(&getegid));
    constexpr unsigned char kReturn = 0xc3;
    const unsigned char beside = function[16];
    {
      OpenedDispatch opened;
      write_over(function, kReturn);
      if (opened.count(SYS_getppid, [] { getppid(); }) != 1) std::_Exit(1);
    }
    if (*function != kReturn || function[16] != beside) std::_Exit(2);
    OpenedDispatch again;
    if (again.count(SYS_getppid, [] { getppid(); }) != 1) std::_Exit(3);
    std::_Exit(*function == kReturn ? 0 : 4);
  };
  EXPECT_EXIT(hook_while_open(), testing::ExitedWithCode(0), "");
}

/// Some libraries that hook functions make a page writable long before they write to it.
TEST(PatchesDeathTest, LeavesPagesAloneThatTheProgramMayWriteTo) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  auto write_later = [] {
    auto* const function = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(&getegid));
    auto* const page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(function) & ~(kPage - 1));
    const unsigned char before = *function;
    if (mprotect(page, kPage, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) std::_Exit(77);
    {
      OpenedDispatch opened;
      if (*function != before || opened.count(SYS_getegid, [] { getegid(); }) != 1) std::_Exit(1);
      *function = before;
    }
    *function = before;
    std::_Exit(0);
  };
  auto can_write = [](int status) {
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
  };
  EXPECT_EXIT(write_later(), can_write, "");
}

/// A patch in place that has a bridge, but not that of `read`, which the test needs; null = this libc has none.
const Patch* find_bridged_patch() {
  const auto* const read_begin = reinterpret_cast<const unsigned char*>(&::read);
  for (const Patch& patch : patch_plan().patches) {
    const auto from_read = patch.site.displaced - read_begin;
    if (patch.is_in_place && patch.site.bridge != nullptr && (from_read < 0 || from_read > 256)) return &patch;
  }
  return nullptr;
}

TEST(PatchesDeathTest, LeadNoCallToWhatTheProgramWritesOverABridge) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  auto write_over_bridge = [] {
    constexpr unsigned char kReturn = 0xc3;
    unsigned char* bridge = nullptr;
    const unsigned char* jump = nullptr;
    std::array<unsigned char, kShortJumpBytes> before = {};
    {
      OpenedDispatch opened;
      const Patch* const patch = find_bridged_patch();
      if (patch == nullptr) std::_Exit(77);
      bridge = patch->site.bridge;
      jump = patch->site.displaced;
      for (const Change& change : patch->changes) {
        if (change.at == jump) std::copy_n(change.original.begin(), kShortJumpBytes, before.begin());
      }
      if (std::equal(before.begin(), before.end(), jump)) std::_Exit(1);
      write_over(bridge, kReturn);
    }
    if (*bridge != kReturn || !std::equal(before.begin(), before.end(), jump)) std::_Exit(2);
    OpenedDispatch again;
    if (*bridge != kReturn || !std::equal(before.begin(), before.end(), jump)) std::_Exit(3);
    std::_Exit(again.count(SYS_getppid, [] { getppid(); }) == 1 ? 0 : 4);
  };
  EXPECT_EXIT(write_over_bridge(), testing::ExitedWithCode(0), "");
}

/// A thread may stand in a bridge, and a timed pass does not see threads that are made in it.
TEST(PatchesDeathTest, LeaveBridgesWhereATimedPassMadeAThread) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  auto close_beside_thread = [] {
    const unsigned char* bridge = nullptr;
    std::array<unsigned char, kJumpBytes> jump = {};
    std::unique_ptr<BusyThread> thread;
    {
      OpenedDispatch opened;
      const Patch* const patch = find_bridged_patch();
      if (patch == nullptr) std::_Exit(77);
      bridge = patch->site.bridge;
      std::copy_n(bridge, kJumpBytes, jump.begin());
      if (!opened.backend->detach().ok()) std::_Exit(1);
      thread = std::make_unique<BusyThread>();
    }
    if (!std::equal(jump.begin(), jump.end(), bridge)) std::_Exit(2);
    if (!thread->stop()) std::_Exit(3);
    // Alone again, all is undone.
    OpenedDispatch();
    std::_Exit(std::equal(jump.begin(), jump.end(), bridge) ? 4 : 0);
  };
  EXPECT_EXIT(close_beside_thread(), testing::ExitedWithCode(0), "");
}

TEST(PatchesDeathTest, ArePutNowhereOnceTheProgramHasAFilter) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
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

/// The child of a vfork runs on the stack of its maker, below the place that the maker's call has come from.
TEST(Patches, GiveAMakerItsWayBackFromAVforkWhoseChildUsedTheStack) {
  if (const std::string obstacle = Patches::obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  OpenedDispatch opened;
  ASSERT_NE(opened.backend, nullptr);
  static int status;
  static const pid_t self = getpid();
  EXPECT_EQ(opened.count(SYS_vfork,
                         [] {
                           const pid_t child = vfork();  // NOLINT: it is what is tested
                           if (child == 0) {
                             volatile char much[2048];
                             for (volatile char& one : much) one = 0x5a;
                             _exit(getppid() == self ? 7 : 8);
                           }
                           waitpid(child, &status, 0);
                         }),
            1U);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
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
