// SPDX-License-Identifier: MIT
//
// A body in a fork child of its own, in which calls can fail: what the body does to the process ends with the child.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

#include "os/loaded_function.h"
#include "os/open_things.h"
#include "session/faults/faults.h"
#include "session/windows/own_calls.h"
#include "syscost/adapter.h"

namespace syscost::session {
namespace {

/// What a child writes is one of these, and a text.
constexpr char kSaid = '=';
constexpr char kSaidAndFailed = '#';  ///< An assertion of the framework has failed.
constexpr char kCannot = '!';

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// glibc keeps some freed blocks of each size for the thread, and counts them as in use: what the body takes from there
/// would not show. So all of them are taken, and kept.
void empty_heap_cache() {
  constexpr std::size_t kLargest = 1032;
  constexpr std::size_t kStep = 16;
  constexpr int kOfEachSize = 16;  // 7 up to glibc 2.41
  for (std::size_t bytes = kStep; bytes <= kLargest; bytes += kStep) {
    for (int i = 0; i < kOfEachSize; ++i) {
      // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): the child keeps it
      void* const taken = std::malloc(bytes);
      __asm__ volatile("" : : "r"(taken) : "memory");
    }
  }
}

/// The child: does not return.
[[noreturn]] void be_the_child(FaultInjector& injector, int answer, pid_t parent,
                               const std::function<std::string()>& body) {
  // It ends with its parent, also if that is killed, and a signal for its group reaches what it starts.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  setpgid(0, 0);
  // 1 also keeps the kernel from starting a program for a crash.
  constexpr rlimit kNoCore = {1, 1};
  setrlimit(RLIMIT_CORE, &kNoCore);
  std::string said;
  if (const Result<void> begun = injector.begin_in_fork_child(); begun.ok()) {
    empty_heap_cache();
    const bool had_failed = adapter::test_has_failed().value_or(false);
    // An exception must not leave this function: the child would go on as a second test program.
    try {
      const std::string text = body();
      said = (!had_failed && adapter::test_has_failed().value_or(false) ? kSaidAndFailed : kSaid) + text;
    } catch (...) {
      said = std::string(1, kCannot) + "prepare, promise or invariant ended by an exception";
    }
  } else {
    said = kCannot + begun.failure().reason;
  }
  // One write, which the pipe has room for.
  write_all(answer, std::string_view(said).substr(0, PIPE_BUF));
  std::fflush(stdout);
  _exit(0);
}

/// Waits until the child has ended or `limit` is over. False if it is over.
bool wait_for_end(pid_t child, std::chrono::nanoseconds limit) {
  const std::int64_t end = now_ns() + limit.count();
  const auto pidfd = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  for (;;) {
    const std::int64_t left = end - now_ns();
    if (left <= 0) break;
    constexpr std::int64_t kMs = 1'000'000;
    constexpr std::int64_t kMostMs = 3600 * 1000;
    // Without a descriptor for it, by looking again and again.
    constexpr int kLookMs = 5;
    pollfd one{pidfd, POLLIN, 0};
    const int ms = pidfd >= 0 ? static_cast<int>(std::min(left / kMs + 1, kMostMs)) : kLookMs;
    const int ready = poll(&one, pidfd >= 0 ? 1 : 0, ms);
    siginfo_t info{};
    const bool has_ended = ready > 0 ||
                           waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
                           info.si_pid == child;
    if (!has_ended) continue;
    if (pidfd >= 0) close(pidfd);
    return true;
  }
  if (pidfd >= 0) close(pidfd);
  return false;
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, PIPE_BUF> chunk{};
  // What the body started may hold the other end: only what is there is read.
  fcntl(descriptor, F_SETFL, O_NONBLOCK);
  for (;;) {
    const ssize_t count = read(descriptor, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

failure_detail::ChildRun Faults::run_in_child(const std::function<std::string()>& body,
                                              std::chrono::nanoseconds limit) {
  failure_detail::ChildRun run;
  OpenBackend* const opened = shared_.backend.current();
  FaultInjector* const injector = opened != nullptr ? opened->backend->faults() : nullptr;
  if (shared_.is_fork_child() || injector == nullptr) {
    run.why_none = shared_.is_fork_child() ? "this is a fork child" : "the backend makes no calls";
    return run;
  }
  if (!injector->begins_in_fork_children()) {
    run.why_none = "backend " + std::string(opened->backend->name()) + " makes no calls in a fork child";
    return run;
  }
  if (!adapter::test_has_failed().has_value()) {
    run.why_none = "this test framework does not say whether an assertion failed in a child";
    return run;
  }
  const OwnCalls own(opened);
  const Result<OpenThings> now = OpenThings::now();
  // ThreadSanitizer's runtime has one of its own, and makes it anew in the child.
  const std::size_t own_threads = loaded_function("__tsan_init") != nullptr ? 2 : 1;
  if (!now.ok() || now.value().threads.size() > own_threads) {
    run.why_none = now.ok() ? "other threads run, and a fork child would have none of them" : now.failure().reason;
    return run;
  }
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    run.why_none = errno_failure("make", "a pipe", errno).reason;
    return run;
  }
  std::fflush(stdout);  // else the child would print it again
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) {
    ::close(ends[0]);
    shared_.child_with_faults.emplace();
    be_the_child(*injector, ends[1], self, body);
  }
  const int error = errno;
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    run.why_none = errno_failure("make", "a child process", error).reason;
    return run;
  }
  setpgid(child, child);  // the child does the same: either may come first
  run.is_timed_out = !wait_for_end(child, limit);
  // Also what the body started and left.
  kill(-child, SIGKILL);
  if (run.is_timed_out) kill(child, SIGKILL);
  int status = 0;
  pid_t reaped = 0;
  do {
    reaped = waitpid(child, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  // Where the program ignores SIGCHLD, the kernel does not say how the child ended.
  if (reaped == child && WIFSIGNALED(status)) run.signal = WTERMSIG(status);
  if (reaped == child && WIFEXITED(status)) run.code = WEXITSTATUS(status);
  const std::string said = read_all(ends[0]);
  ::close(ends[0]);
  run.has_failed_test = !said.empty() && said.front() == kSaidAndFailed;
  run.has_said = run.has_failed_test || (!said.empty() && said.front() == kSaid);
  if (!said.empty()) (run.has_said ? run.said : run.why_none) = said.substr(1);
  return run;
}

}  // namespace syscost::session
