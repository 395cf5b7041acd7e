// SPDX-License-Identifier: MIT
#include "session/process/contained_child.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>
#include <string>
#include <string_view>

#include "os/errors.h"
#include "os/files.h"
#include "os/proc.h"
#include "syscost/adapter.h"

namespace syscost::session {
namespace {

/// Shared by the test, the keeper and the child.
struct Answer {
  static constexpr std::size_t kMostText = std::size_t{64} << 10;

  // Set by the child.
  std::atomic<bool> has_said{false};
  bool has_failed_test = false;
  std::size_t length = 0;
  std::array<char, kMostText> text;
  // Set by the keeper.
  std::atomic<bool> has_ended{false};
  bool is_timed_out = false;
  int status = 0;  ///< As waitpid() gives it.
  int error = 0;   ///< Why there is no child; 0 = there was one.
};

class SharedAnswer {
 public:
  SharedAnswer()
      : memory_(mmap(nullptr, sizeof(Answer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        answer_(memory_ != MAP_FAILED ? new (memory_) Answer : nullptr) {}
  ~SharedAnswer() {
    if (answer_ != nullptr) munmap(memory_, sizeof(Answer));
  }
  SharedAnswer(const SharedAnswer&) = delete;
  SharedAnswer& operator=(const SharedAnswer&) = delete;

  /// Null if there is no memory.
  Answer* get() const { return answer_; }

 private:
  void* memory_;
  Answer* answer_;
};

/// While it exists, this thread does not hear that a child ended. The signal of our own child is taken back.
class HeldChildSignal {
 public:
  HeldChildSignal() {
    sigemptyset(&child_);
    sigaddset(&child_, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &child_, &before_);
    sigaction(SIGCHLD, nullptr, &handler_);
  }
  ~HeldChildSignal() {
    siginfo_t info{};
    const timespec no_time{};
    if (child_of_ours_ > 0 && sigtimedwait(&child_, &info, &no_time) == SIGCHLD && info.si_pid != child_of_ours_) {
      syscall(SYS_rt_sigqueueinfo, getpid(), SIGCHLD, &info);
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  HeldChildSignal(const HeldChildSignal&) = delete;
  HeldChildSignal& operator=(const HeldChildSignal&) = delete;

  void set_child(pid_t child) { child_of_ours_ = child; }
  /// In a fork child: as it was before.
  void restore() const {
    sigaction(SIGCHLD, &handler_, nullptr);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t child_{};
  sigset_t before_{};
  struct sigaction handler_ {};
  pid_t child_of_ours_ = 0;
};

// ---- the child ------------------------------------------------------------------------------------------------------

/// Does not return. An exception must not leave it: the child would go on as a second test program.
[[noreturn]] void be_the_child(Answer& answer, pid_t keeper, const HeldChildSignal& signals,
                               const std::function<std::string()>& code) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper) _exit(1);
  setpgid(0, 0);
  // 1 also keeps the kernel from starting a program for a crash.
  constexpr rlimit kNoCore = {1, 1};
  setrlimit(RLIMIT_CORE, &kNoCore);
  signals.restore();
  const pid_t self = getpid();
  const bool had_failed = adapter::test_has_failed().value_or(false);
  const std::string said = code();
  // A child of the code has come here.
  if (getpid() != self) _exit(0);
  answer.has_failed_test = !had_failed && adapter::test_has_failed().value_or(false);
  answer.length = std::min(said.size(), Answer::kMostText);
  std::memcpy(answer.text.data(), said.data(), answer.length);
  answer.has_said = true;
  std::fflush(stdout);
  _exit(0);
}

// ---- the keeper -----------------------------------------------------------------------------------------------------

constexpr int kMsWithoutDescriptor = 5;  // where the kernel gives no descriptor of a process: looks again and again

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

int descriptor_of(pid_t process) {
  return static_cast<int>(syscall(SYS_pidfd_open, process, 0));
}

/// Waits until the child has ended, the test has ended or `limit` is over. True if it is over.
bool wait_for_end(pid_t child, pid_t test, std::int64_t limit_ns) {
  constexpr std::int64_t kMs = 1'000'000;
  constexpr std::int64_t kMostMs = 3600 * 1000;
  const std::int64_t begin = now_ns();
  std::array<pollfd, 2> ends = {{{descriptor_of(child), POLLIN, 0}, {descriptor_of(test), POLLIN, 0}}};
  const bool has_both = ends[0].fd >= 0 && ends[1].fd >= 0;
  for (;;) {
    siginfo_t info{};
    const int looked = waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
    if (looked < 0 || info.si_pid == child || getppid() != test) return false;
    const std::int64_t left = limit_ns - (now_ns() - begin);
    if (left <= 0) return true;
    const std::int64_t ms = std::min(left / kMs + 1, kMostMs);
    poll(ends.data(), ends.size(), static_cast<int>(has_both ? ms : std::min<std::int64_t>(ms, kMsWithoutDescriptor)));
  }
}

/// Kills and reaps all that is below this process. A process that loses its parent comes here, so killing children is
/// enough.
void kill_the_rest() {
  constexpr std::int64_t kPatienceNs = 10'000'000'000;  // one may be inside a driver
  constexpr int kPauseMs = 1;
  const std::int64_t begin = now_ns();
  for (;;) {
    pid_t reaped = 0;
    while ((reaped = waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (reaped < 0 || now_ns() - begin > kPatienceNs) return;
    const std::string children = read_small_file("/proc/thread-self/children");
    if (children.empty()) return;  // the kernel does not list them
    for (const char *at = children.data(), *end = at + children.size(); at != end;) {
      pid_t shown = 0;
      const auto [rest, error] = std::from_chars(at, end, shown);
      const pid_t process = error == std::errc() ? own_number_of(shown) : 0;
      if (process > 0) kill(process, SIGKILL);
      at = rest != end ? rest + 1 : end;
    }
    poll(nullptr, 0, kPauseMs);
  }
}

/// Does not return.
[[noreturn]] void be_the_keeper(Answer& answer, pid_t test, const HeldChildSignal& signals,
                                const std::function<std::string()>& code, std::int64_t limit_ns) noexcept {
  // No handler of the program's runs here, and no signal for the test's group ends this.
  sigset_t every;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, nullptr);
  signal(SIGCHLD, SIG_DFL);
  setpgid(0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) be_the_child(answer, self, signals, code);
  if (child < 0) {
    answer.error = errno;
    _exit(0);
  }
  setpgid(child, child);  // the child does the same: either may come first
  answer.is_timed_out = wait_for_end(child, test, limit_ns);
  // Its group at once. It is not reaped yet, so the number is still its own.
  kill(-child, SIGKILL);
  kill(child, SIGKILL);
  while (waitpid(child, &answer.status, 0) < 0 && errno == EINTR) {
  }
  kill_the_rest();
  answer.has_ended = true;
  _exit(0);
}

}  // namespace

ContainedRun run_contained(const std::function<std::string()>& code, std::chrono::nanoseconds limit) {
  ContainedRun run;
  const SharedAnswer shared;
  Answer* const answer = shared.get();
  if (answer == nullptr) {
    run.why_none = errno_failure("map", "memory for an answer", errno).reason;
    return run;
  }
  std::fflush(stdout);  // else the child would print it again
  HeldChildSignal signals;
  const pid_t self = getpid();
  const pid_t keeper = fork();
  if (keeper == 0) be_the_keeper(*answer, self, signals, code, std::max<std::int64_t>(limit.count(), 0));
  if (keeper < 0) {
    run.why_none = errno_failure("make", "a child process", errno).reason;
    return run;
  }
  signals.set_child(keeper);
  // Where the program ignores SIGCHLD, or another thread reaps the keeper, this fails when the keeper has ended.
  while (waitpid(keeper, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (answer->error != 0) {
    run.why_none = errno_failure("make", "a child process", answer->error).reason;
    return run;
  }
  if (!answer->has_ended) {
    run.signal = SIGKILL;  // the code has killed the keeper, and so itself
    return run;
  }
  run.is_timed_out = answer->is_timed_out;
  run.has_said = answer->has_said;
  if (run.has_said) {
    run.has_failed_test = answer->has_failed_test;
    run.said.assign(answer->text.data(), std::min(answer->length, Answer::kMostText));
  }
  if (WIFSIGNALED(answer->status)) {
    run.signal = WTERMSIG(answer->status);
  } else {
    run.code = WEXITSTATUS(answer->status);
  }
  return run;
}

}  // namespace syscost::session
