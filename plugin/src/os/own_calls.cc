// SPDX-License-Identifier: MIT
#include "os/own_calls.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>

namespace syscost {

ForkDetector::ForkDetector() : owner_(getpid()) {
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, size, MADV_WIPEONFORK) != 0) {
    munmap(page, size);
    return;
  }
  int* mark = static_cast<int*>(page);
  *mark = 1;
  mark_ = mark;
}

bool ForkDetector::is_fork_child() const {
  return mark_ != nullptr ? *mark_ == 0 : getpid() != owner_;
}

namespace {

std::atomic<std::uint64_t> g_cookie{0};
std::atomic<std::uint64_t> g_sixth_argument{0};
std::atomic<std::atomic<pid_t>*> g_sessions{nullptr};
std::atomic<std::size_t> g_session_count{0};
std::atomic<const ForkDetector*> g_fork_detector{nullptr};

/// Empty in a fork child: it may not have the cells.
std::span<std::atomic<pid_t>> own_sessions() {
  const ForkDetector* const detector = g_fork_detector.load();
  if (detector == nullptr || detector->is_fork_child()) return {};
  return {g_sessions.load(), g_session_count.load()};
}

void tell(int begins) {
  if (const std::uint64_t cookie = g_cookie.load(); cookie != 0) syscall(SYS_gettid, cookie, begins);
}

}  // namespace

void begin_own_calls() {
  tell(1);
}

void end_own_calls() {
  tell(0);
}

long own_call(long number, long first, long second) {
  return marked_call(g_sixth_argument.load(), number, first, second);
}

int begin_own_session(pid_t self) {
  begin_own_calls();
  const std::span<std::atomic<pid_t>> sessions = own_sessions();
  // Told before there is such a session: until then the process is known by its number.
  const auto cell = std::find_if(sessions.begin(), sessions.end(), [&](std::atomic<pid_t>& session) {
    pid_t free = 0;
    return session.compare_exchange_strong(free, self);
  });
  if (!sessions.empty() && cell == sessions.end()) return EAGAIN;
  return setsid() < 0 && !sessions.empty() ? errno : 0;
}

void end_own_session(pid_t session) {
  for (std::atomic<pid_t>& cell : own_sessions()) {
    pid_t expected = session;
    cell.compare_exchange_strong(expected, 0);
  }
}

void set_own_calls_cookie(std::uint64_t cookie) {
  g_cookie.store(cookie);
}

void set_own_calls_marks(std::uint64_t sixth_argument, std::span<std::atomic<pid_t>> sessions) {
  static const ForkDetector detector;
  g_fork_detector.store(&detector);
  g_sixth_argument.store(sixth_argument);
  g_sessions.store(sessions.data());
  g_session_count.store(sessions.size());
}

}  // namespace syscost
