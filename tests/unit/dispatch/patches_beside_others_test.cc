// SPDX-License-Identifier: MIT
//
// Patching libc while other threads run its code, or the program writes to it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>

#include "backends/dispatch/patch_plan.h"
#include "patched_libc.h"

namespace syscost::dispatch {
namespace {

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
    return getppid() == parent_ && read(kZero, zeros, sizeof zeros) == sizeof zeros && zeros[0] == 0 && zeros[7] == 0 &&
           lseek(-1, 0, SEEK_CUR) == -1 && errno == EBADF;
  }

 private:
  void run() {
    while (!is_over_) {
      if (!calls_are_right()) is_right_ = false;
    }
  }

  /// The parent of the process that made the last thread: a death test is a process of its own.
  static inline std::atomic<pid_t> parent_{0};
  static inline const int kZero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  std::atomic<bool> is_over_{false};
  std::atomic<bool> is_right_{true};
  std::thread thread_;
};

TEST_F(PatchedLibc, ReplacesCodeThatOtherThreadsAreRunning) {
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

/// By the program, on the page of a patched site.
void write_over(unsigned char* at, unsigned char value) {
  auto* const page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) & ~(kPage - 1));
  ASSERT_EQ(mprotect(page, kPage, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
  *at = value;
  ASSERT_EQ(mprotect(page, kPage, PROT_READ | PROT_EXEC), 0);
}

TEST_F(PatchedLibcDeathTest, LeaveWhatTheProgramWritesOverLibc) {
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
TEST_F(PatchedLibcDeathTest, LeavesPagesAloneThatTheProgramMayWriteTo) {
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

TEST_F(PatchedLibcDeathTest, LeadNoCallToWhatTheProgramWritesOverABridge) {
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
TEST_F(PatchedLibcDeathTest, LeaveBridgesWhereATimedPassMadeAThread) {
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
    { const OpenedDispatch opened; }
    std::_Exit(std::equal(jump.begin(), jump.end(), bridge) ? 4 : 0);
  };
  EXPECT_EXIT(close_beside_thread(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace syscost::dispatch
