// SPDX-License-Identifier: MIT
#include "assistant.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "raw.h"

namespace conformance {
namespace {

std::string read_task_file(pid_t pid, pid_t tid, const char* name) {
  std::array<char, 512> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "/proc/%d/task/%d/%s", pid, tid, name);
  int fd = open(buffer.data(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  ssize_t got = read(fd, buffer.data(), buffer.size());
  close(fd);
  return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string();
}

// The state of a thread in /proc: 'S' sleeping, 'T' stopped, 't' held by a tracer, ...; 0 if the thread is gone.
char state_of(pid_t pid, pid_t tid) {
  std::string stat = read_task_file(pid, tid, "stat");
  std::size_t name_end = stat.rfind(") ");
  return name_end == std::string::npos ? '\0' : stat[name_end + 2];
}

// Sleeping (not in a tracer's stop, not about to run) and inside syscall `nr`.
bool is_blocked_in(pid_t pid, pid_t tid, long nr) {
  if (state_of(pid, tid) != 'S') return false;
  std::string call = read_task_file(pid, tid, "syscall");
  char* end = nullptr;
  long found = std::strtol(call.c_str(), &end, 10);
  return end != call.c_str() && found == nr;
}

}  // namespace

Assistant::Assistant() {
  void* memory = mmap(nullptr, sizeof(Desk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  desk_ = new (memory) Desk;
  pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) std::abort();
  if (pid_ == 0) {
    // No process may survive a killed test run.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent) work(parent);
    _exit(0);
  }
}

Assistant::~Assistant() {
  desk_->closing = true;
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  munmap(desk_, sizeof(Desk));
}

void Assistant::when_blocked(pid_t tid, long nr, std::uint32_t handled) {
  give({Order::Start::blocked, tid, nr, handled, 0, -1});
}

void Assistant::when_blocked_signal(pid_t tid, long nr, int signal, std::uint32_t handled) {
  give({Order::Start::blocked, tid, nr, handled, signal, -1});
}

void Assistant::when_blocked_write(pid_t tid, long nr, int fd, std::uint32_t handled) {
  give({Order::Start::blocked, tid, nr, handled, 0, fd});
}

void Assistant::when_stopped_signal(pid_t tid, int signal) {
  give({Order::Start::stopped, tid, 0, 0, signal, -1});
}

void Assistant::when_set_signal(pid_t tid, int signal) {
  give({Order::Start::flag, tid, 0, 0, signal, -1});
}

void Assistant::wait() const {
  spin_until(
      [&] { return desk_->done.load(std::memory_order_acquire) == desk_->given.load(std::memory_order_relaxed); });
}

void Assistant::give(const Order& order) {
  std::uint32_t given = desk_->given.load(std::memory_order_relaxed);
  desk_->orders[given % kOrders] = order;
  desk_->given.store(given + 1, std::memory_order_release);
}

void Assistant::work(pid_t parent) {
  while (!desk_->closing.load()) {
    std::uint32_t done = desk_->done.load(std::memory_order_relaxed);
    if (done != desk_->given.load(std::memory_order_acquire) && is_due(parent, desk_->orders[done % kOrders])) {
      const Order& order = desk_->orders[done % kOrders];
      if (order.signal != 0) syscall(SYS_tgkill, parent, order.tid, order.signal);
      if (order.fd >= 0 && write(order.fd, "x", 1) != 1) _exit(1);
      desk_->done.store(done + 1, std::memory_order_release);
      continue;
    }
    // Polling, not timing: nothing depends on how long this takes.
    timespec pause{0, 200'000};
    nanosleep(&pause, nullptr);
  }
}

bool Assistant::is_due(pid_t parent, const Order& order) const {
  if (order.start == Order::Start::flag) return desk_->flag.load(std::memory_order_acquire) != 0;
  if (order.start == Order::Start::stopped) {
    // A tracer holds a stopped thread in a stop of its own.
    const char state = state_of(parent, order.tid);
    return state == 'T' || state == 't';
  }
  if (order.handled != 0 && desk_->handled.load(std::memory_order_acquire) < order.handled) return false;
  return is_blocked_in(parent, order.tid, order.nr);
}

}  // namespace conformance
