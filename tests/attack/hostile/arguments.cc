// SPDX-License-Identifier: MIT
//
// Arguments in memory that another thread takes away and gives back all the time: the kernel answers EFAULT or reads
// them, and nothing else can happen.
#include <linux/sched.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <functional>
#include <thread>

#include "hostile.h"

namespace {

using attack::call_both;
using conformance::raw;

constexpr std::size_t kPage = 4096;
constexpr int kTries = 3000;

/// A page that a thread of its own maps anew and protects, from construction to destruction.
class ComingAndGoing {
 public:
  ComingAndGoing() : page_(map(nullptr, 0)), thread_([this] { come_and_go(); }) {}
  ~ComingAndGoing() {
    stops_ = true;
    thread_.join();
    munmap(page_, kPage);
  }
  ComingAndGoing(const ComingAndGoing&) = delete;
  ComingAndGoing& operator=(const ComingAndGoing&) = delete;

  char* at(std::size_t offset) const { return page_ + offset; }

 private:
  static char* map(char* where, int more) {
    return static_cast<char*>(mmap(where, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0));
  }
  void come_and_go() const {
    while (!stops_) {
      map(page_, MAP_FIXED);
      mprotect(page_, kPage, PROT_NONE);
    }
  }

  char* page_;
  std::atomic<bool> stops_{false};
  std::thread thread_;
};

/// Makes the call many times: each answer is one of these two, or `third`.
void try_often(const std::function<long()>& call, long answer, long third = -EFAULT) {
  for (int i = 0; i < kTries; ++i) {
    const long result = call();
    ASSERT_TRUE(result == answer || result == -EFAULT || result == third) << result;
  }
}

}  // namespace

HOSTILE(masks_come_and_go, 20, "passes masks in memory that another thread takes away") {
  const ComingAndGoing memory;
  call_both(5);
  try_often([&] { return raw(SYS_rt_sigprocmask, SIG_BLOCK, memory.at(0), memory.at(64), 8); }, 0);
  try_often([&] { return raw(SYS_rt_sigprocmask, SIG_SETMASK, memory.at(0), nullptr, 8); }, 0);
  try_often([&] { return raw(SYS_rt_sigpending, memory.at(64), 8); }, 0);
  const timespec none{};
  try_often([&] { return raw(SYS_ppoll, nullptr, 0, &none, memory.at(0), 8); }, 0);
  try_often([&] { return raw(SYS_pselect6, 0, nullptr, nullptr, nullptr, &none, memory.at(0)); }, 0);
  try_often([&] { return raw(SYS_rt_sigtimedwait, memory.at(0), memory.at(64), &none, 8); }, -EAGAIN);
  call_both(5);
}

HOSTILE(sigsys_masks_come_and_go, 20, "passes masks with SIGSYS in them, in memory that another thread takes away") {
  call_both(5);
  std::uint64_t sigsys = std::uint64_t{1} << (SIGSYS - 1);
  ASSERT_EQ(raw(SYS_rt_sigprocmask, SIG_BLOCK, &sigsys, nullptr, 8), 0);
  {
    const ComingAndGoing memory;
    try_often([&] { return raw(SYS_rt_sigprocmask, SIG_BLOCK, &sigsys, memory.at(64), 8); }, 0);
    try_often([&] { return raw(SYS_rt_sigpending, memory.at(64), 8); }, 0);
    const timespec none{};
    try_often([&] { return raw(SYS_rt_sigtimedwait, &sigsys, memory.at(64), &none, 8); }, -EAGAIN);
  }
  ASSERT_EQ(raw(SYS_rt_sigprocmask, SIG_UNBLOCK, &sigsys, nullptr, 8), 0);
  call_both(5);
}

HOSTILE(actions_come_and_go, 20,
        "passes actions of signals and a signal stack in memory that another thread takes away") {
  const ComingAndGoing memory;
  call_both(5);
  for (const int signal : {SIGUSR2, SIGSYS}) {
    try_often([&] { return raw(SYS_rt_sigaction, signal, nullptr, memory.at(64), 8); }, 0);
    try_often([&] { return raw(SYS_rt_sigaction, signal, memory.at(0), memory.at(64), 8); }, 0);
  }
  try_often([&] { return raw(SYS_sigaltstack, nullptr, memory.at(64)); }, 0);
  try_often([&] { return raw(SYS_sigaltstack, memory.at(0), memory.at(64)); }, 0, -ENOMEM);
  call_both(5);
}

HOSTILE(lists_come_and_go, 20,
        "passes lists of stretches, files and signals in memory that another thread takes away") {
  if (raw(SYS_clone3, nullptr, std::size_t{8}) == -ENOSYS) GTEST_SKIP() << "a filter answers clone3";
  const ComingAndGoing memory;
  call_both(5);
  try_often([&] { return raw(SYS_writev, 2, memory.at(0), 4); }, 0);
  try_often([&] { return raw(SYS_openat2, -100, "", memory.at(0), 24); }, -ENOENT);
  try_often([&] { return raw(SYS_clone3, memory.at(0), std::size_t{8}); }, -EINVAL);
  try_often([&] { return raw(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGURG, memory.at(0)); }, 0);
  try_often([&] { return raw(SYS_epoll_pwait, -1, memory.at(128), 1, 0, memory.at(0), std::size_t{8}); }, -EBADF);
  call_both(5);
}
