// SPDX-License-Identifier: MIT
#include "bench_run/command.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "os/null_ended.h"

namespace syscost::bench_run {
namespace {

std::atomic<pid_t> g_command{0};

void pass_on(int signal) {
  const int kept = errno;
  if (const pid_t command = g_command.load(); command > 0) kill(command, signal);
  errno = kept;
}

/// The signals as they are while the command runs.
class Signals {
 public:
  Signals() {
    struct sigaction ignoring {};
    ignoring.sa_handler = SIG_IGN;
    struct sigaction passing {};
    passing.sa_handler = pass_on;
    passing.sa_flags = SA_RESTART;
    sigaction(SIGINT, &ignoring, &before_[0]);
    sigaction(SIGQUIT, &ignoring, &before_[1]);
    sigaction(SIGTERM, &passing, &before_[2]);
    sigaction(SIGHUP, &passing, &before_[3]);
    sigaction(SIGPIPE, &ignoring, &before_[4]);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() {
    sigaction(SIGINT, &before_[0], nullptr);
    sigaction(SIGQUIT, &before_[1], nullptr);
    sigaction(SIGTERM, &before_[2], nullptr);
    sigaction(SIGHUP, &before_[3], nullptr);
    sigaction(SIGPIPE, &before_[4], nullptr);
  }

 private:
  struct sigaction before_[5]{};
};

/// Returns when the process has ended, or cannot be watched.
void tick_until_end(pid_t process, Tick tick) {
  using Clock = std::chrono::steady_clock;
  const int watched = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (watched < 0) return;
  const auto length = std::chrono::milliseconds(tick.milliseconds);
  for (Clock::time_point until = Clock::now() + length;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd end{watched, POLLIN, 0};
    const int ready = poll(&end, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready > 0 || (ready < 0 && errno != EINTR)) break;
    if (Clock::now() < until) continue;
    tick.make();
    // Of ticks that were missed, as while this process was stopped, one is made.
    for (const auto now = Clock::now(); until <= now;) until += length;
  }
  ::close(watched);
}

}  // namespace

int CommandEnd::exit_code() const {
  if (error != 0) return error == ENOENT ? 127 : 126;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

CommandEnd run_command(const std::string& path, const std::vector<std::string>& command, Tick tick) {
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
  if (child < 0) {
    end.error = errno;
    return end;
  }
  g_command = child;
  const Signals signals;
  if (tick.milliseconds > 0) tick_until_end(child, tick);
  pid_t ended = 0;
  while ((ended = waitpid(child, &end.status, 0)) < 0 && errno == EINTR) {
  }
  if (ended < 0) end.error = errno;
  sigaction(SIGCHLD, &of_children, nullptr);
  g_command = 0;
  if (error != 0) end.error = error;
  return end;
}

}  // namespace syscost::bench_run
