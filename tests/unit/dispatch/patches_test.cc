// SPDX-License-Identifier: MIT
//
// Patching libc: only what is proven, everything put back.
#include "backends/dispatch/patches.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "backends/dispatch/stub/common/state.h"
#include "patched_libc.h"

namespace syscost::dispatch {
namespace {

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

TEST_F(PatchedLibc, ChangesTheHotSiteAndPutsEverythingBack) {
  // Where other threads were running, a test before this one has left bridges.
  { const OpenedDispatch opened; }
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

/// Threads that are born while calls are counted, so that each of their reads is.
TEST_F(PatchedLibc, CountEachReadOfManyThreads) {
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

TEST_F(PatchedLibc, TrapsNoReadOfLibc) {
  OpenedDispatch opened;
  ASSERT_NE(opened.backend, nullptr);
  char byte = 0;
  std::atomic_ref trapped(syscost_state.trapped);
  const std::uint64_t before = trapped.load();
  EXPECT_EQ(opened.count(SYS_read, [&byte] { EXPECT_EQ(read(-1, &byte, 1), -1); }), 1U);
  EXPECT_EQ(trapped.load(), before);
}

TEST(Patching, NeverTouchesLibcWhenItMayNot) {
  const std::vector<unsigned char> before = text_now();
  OpenedDispatch opened(Patching::never);
  ASSERT_NE(opened.backend, nullptr);
  ASSERT_TRUE(opened.backend->hidden_losses().ok());
  EXPECT_EQ(text_now(), before);
}

/// The child of a vfork runs on the stack of its maker, below the place that the maker's call has come from.
TEST_F(PatchedLibc, GiveAMakerItsWayBackFromAVforkWhoseChildUsedTheStack) {
  OpenedDispatch opened;
  ASSERT_NE(opened.backend, nullptr);
  static int status;
  static const pid_t self = getpid();
  // NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork): it is what is tested
  EXPECT_EQ(opened.count(SYS_vfork,
                         [] {
                           const pid_t child = vfork();
                           if (child == 0) {
                             volatile char much[2048];
                             for (volatile char& one : much) one = 0x5a;
                             _exit(getppid() == self ? 7 : 8);
                           }
                           waitpid(child, &status, 0);
                         }),
            1U);
  // NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

TEST_F(PatchedLibc, LeavesTheMappingsOfLibcTheirName) {
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

}  // namespace
}  // namespace syscost::dispatch
