// SPDX-License-Identifier: MIT
//
// soak: many threads, many calls, many boundaries and random signals at once; every number must come out exact.
//
//     SYSCOST_BACKEND=dispatch soak [threads [calls of each]]
//
// Waves of threads live for a thousand calls each, made from the program's own text and through libc. One thread opens
// and closes process windows as fast as it can. Another process sends signals to random threads, and the handler makes
// calls, too. All of this runs inside one window. The window must show exactly the calls that were made, each with one
// latency, nothing lost and nothing late. Only then is the exit status 0.
// It is 77 (skipped, to ctest) if the backend cannot count here.
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "syscost/syscost.h"

namespace {

constexpr int kWave = 50;
constexpr int kBoundaries = 100'000;

/// Shared with the sender of signals.
struct Desk {
  std::atomic<bool> is_over{false};
  std::atomic<std::uint64_t> sent{0};
};

std::atomic<std::uint64_t> g_handled{0};
std::atomic<std::uint64_t> g_made{0};
std::atomic<std::uint64_t> g_failed{0};

long raw(long number, long first = 0) {
  long result = number;
  asm volatile("syscall" : "+a"(result) : "D"(first) : "rcx", "r11", "memory");
  return result;
}

void handle(int /*signal*/) {
  raw(SYS_getuid);
  g_handled.fetch_add(1, std::memory_order_relaxed);
}

void call(int times) {
  std::uint64_t failed = 0;
  for (int i = 0; i < times; i += 2) {
    raw(SYS_getppid);
    syscall(SYS_getppid);
    if (i % 64 == 0) {
      ++failed;
      raw(SYS_close, -1);
    }
  }
  g_made.fetch_add(static_cast<std::uint64_t>(times), std::memory_order_relaxed);
  g_failed.fetch_add(failed, std::memory_order_relaxed);
}

pid_t start_sender(Desk& desk) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::uint64_t state = 88172645463325252ULL;
  while (!desk.is_over.load() && getppid() == parent) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    kill(parent, (state & 1) != 0 ? SIGUSR1 : SIGUSR2);
    desk.sent.fetch_add(1);
    for (std::uint64_t i = 0; i < state % 20; ++i) sched_yield();
  }
  _exit(0);
}

void cross_boundaries(const std::atomic<bool>& is_over, std::uint64_t& seen) {
  for (int i = 0; i < kBoundaries / 2 || !is_over.load(); ++i) {
    if (i >= kBoundaries / 2) {
      sched_yield();
      continue;
    }
    syscost::Scope inner(syscost::Reach::process);
    seen += inner.stop().calls("getppid").value_or(0);
  }
}

bool check(const char* what, std::uint64_t expected, std::optional<std::uint64_t> found) {
  const bool is_right = found == expected;
  std::printf("%-24s made %12llu  counted %12llu%s\n", what, static_cast<unsigned long long>(expected),
              static_cast<unsigned long long>(found.value_or(0)), is_right ? "" : "  WRONG");
  return is_right;
}

/// Whether the backend works here, as found in a child: a program that names one that does not is ended with exit code
/// 2 and the reason.
bool can_count() {
  const pid_t child = fork();
  if (child == 0) {
    syscost::measure([] {}, syscost::Reach::process);
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  return !(WIFEXITED(status) && WEXITSTATUS(status) == 2);
}

}  // namespace

int main(int argc, char** argv) {
  if (!can_count()) return 77;
  const int threads = argc > 1 ? std::atoi(argv[1]) : 10'000;
  const int calls = argc > 2 ? std::atoi(argv[2]) : 1'000;
  void* memory = mmap(nullptr, sizeof(Desk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Desk& desk = *new (memory) Desk;
  for (int signal : {SIGUSR1, SIGUSR2}) {
    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
  // Opens the backend, and lets the pools grow, before anything is counted.
  for (int i = 0; i < 100; ++i) syscost::measure([] { raw(SYS_getppid); }, syscost::Reach::process);

  std::uint64_t seen_inside = 0;
  std::atomic<bool> is_over{false};
  syscost::Scope all(syscost::Reach::process);
  const pid_t sender = start_sender(desk);
  std::thread windows([&] { cross_boundaries(is_over, seen_inside); });
  for (int started = 0; started < threads; started += kWave) {
    std::vector<std::thread> wave;
    for (int i = 0; i < kWave; ++i) wave.emplace_back([calls] { call(calls); });
    for (std::thread& one : wave) one.join();
  }
  is_over = true;
  windows.join();
  desk.is_over = true;
  int status = 0;
  while (waitpid(sender, &status, 0) < 0) {
  }
  // Every signal that was sent has been handled when this thread, the only one, has been through the kernel.
  raw(SYS_getppid);
  g_made.fetch_add(1);
  const syscost::Cost cost = all.stop();

  std::printf("%d threads, %d boundaries, %llu signals sent, %llu handled\n", threads, kBoundaries,
              static_cast<unsigned long long>(desk.sent.load()), static_cast<unsigned long long>(g_handled.load()));
  bool is_right = check("getppid", g_made, cost.calls("getppid").value());
  is_right = check("close, failing", g_failed, cost.errors("close", EBADF).value()) && is_right;
  is_right = check("getuid, in handlers", g_handled, cost.calls("getuid").value()) && is_right;
  is_right = check("rt_sigreturn", g_handled, cost.calls("rt_sigreturn").value()) && is_right;
  is_right = check("lost", 0, cost.lost().value()) && is_right;
  for (const syscost::SyscallCost& one : cost.syscalls()) {
    if (one.name == "getppid") is_right = check("latencies of getppid", g_made, one.latency.count()) && is_right;
  }
  if (seen_inside > g_made) {
    std::printf("inner windows show %llu getppid, more than were made\n", static_cast<unsigned long long>(seen_inside));
    is_right = false;
  }
  return is_right ? 0 : 1;
}
