// SPDX-License-Identifier: MIT
#include "bench_run/command.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>

#include "os/null_ended.h"

namespace syscost::bench_run {
namespace {

/// Waits for the end of a child, and leaves its status for waitpid().
class EndOf {
 public:
  explicit EndOf(pid_t process) : process_(process), fd_(static_cast<int>(syscall(SYS_pidfd_open, process, 0))) {}
  EndOf(const EndOf&) = delete;
  EndOf& operator=(const EndOf&) = delete;
  ~EndOf() {
    if (fd_ >= 0) ::close(fd_);
  }

  /// True once the child has ended. May return earlier than asked.
  bool comes_within(std::int64_t milliseconds) const {
    // Without a descriptor of the process, as below a filter of a container, looks at it now and then.
    constexpr std::int64_t kBetweenLooks_ms = 20;
    pollfd end{fd_, POLLIN, 0};
    const std::int64_t longest = fd_ >= 0 ? INT_MAX : kBetweenLooks_ms;
    const int ready =
        poll(&end, fd_ >= 0 ? 1 : 0, static_cast<int>(std::clamp<std::int64_t>(milliseconds, 0, longest)));
    if (fd_ >= 0) return ready > 0;
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
  }

 private:
  pid_t process_;
  int fd_;
};

void tick_until_end(pid_t process, Tick tick) {
  using Clock = std::chrono::steady_clock;
  const EndOf end(process);
  const auto length = std::chrono::milliseconds(tick.milliseconds);
  for (Clock::time_point until = Clock::now() + length;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (end.comes_within(left)) return;
    if (Clock::now() < until) continue;
    tick.make();
    // If ticks were missed, for example while this process was stopped, one is made for all of them.
    for (const auto now = Clock::now(); until <= now;) until += length;
  }
}

}  // namespace

int CommandEnd::exit_code() const {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

CommandEnd run_command(const std::string& path, const std::vector<std::string>& command, PassingSignals& signals,
                       Tick tick) {
  const std::vector<char*> arguments = null_ended(command);
  // A file that the kernel does not know is a script without its first line: the shell runs it.
  std::vector<std::string> shell_texts = {"sh", path};
  shell_texts.insert(shell_texts.end(), command.begin() + 1, command.end());
  const std::vector<char*> shell_arguments = null_ended(shell_texts);

  // Where SIGCHLD is ignored, the kernel throws the end of a child away. The command must find it ignored, too.
  struct sigaction of_children {};
  struct sigaction waiting {};
  waiting.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &waiting, &of_children);
  const bool ignores_children = of_children.sa_handler == SIG_IGN;

  static volatile int error = 0;
  error = 0;
  // NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork): the child restores SIGCHLD only.
  // fork() would make calls of its own in the child, and they would be counted as the command's.
  PassingSignals::begin_command();
  const pid_t child = vfork();
  if (child == 0) {
    if (ignores_children) sigaction(SIGCHLD, &of_children, nullptr);
    execv(path.c_str(), arguments.data());
    if (errno == ENOEXEC) execv("/bin/sh", shell_arguments.data());
    error = errno;
    _exit(127);
  }
  // NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
  CommandEnd end;
  if (child < 0) end.error = errno;
  end.process = child;
  signals.set_command(child);
  if (child > 0) {
    if (tick.milliseconds > 0) tick_until_end(child, tick);
    siginfo_t info{};
    while (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    signals.end_command();
    if (waitpid(child, &end.status, 0) < 0) end.error = errno;
    if (error != 0) end.error = error;
  }
  sigaction(SIGCHLD, &of_children, nullptr);
  return end;
}

}  // namespace syscost::bench_run
