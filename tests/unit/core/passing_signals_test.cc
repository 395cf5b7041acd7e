// SPDX-License-Identifier: MIT
#include "os/signals.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace syscost {
namespace {

/// A program that waits for the end of its input, which does not come while this lives.
class Waiting {
 public:
  Waiting() {
    EXPECT_EQ(pipe(ends_.data()), 0);
    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends_[0], STDIN_FILENO);
    std::array<char, 4> name = {"cat"};
    const std::array<char*, 2> arguments = {name.data(), nullptr};
    EXPECT_EQ(posix_spawnp(&process_, "cat", &actions, nullptr, arguments.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    for (const int end : ends_) close(end);
  }

  pid_t process() const { return process_; }
  /// The signal that ends it.
  int signal() const {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  std::array<int, 2> ends_{};
  pid_t process_ = -1;
};

TEST(PassingSignals, PassOnThatOfAnAlarmThatWasSetBefore) {
  PassingSignals signals;
  PassingSignals::begin_command();
  const Waiting command;
  signals.set_command(command.process());
  const itimerval soon{{0, 0}, {0, 1}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  EXPECT_EQ(command.signal(), SIGALRM);
  signals.end_command();
}

TEST(PassingSignals, KeepAllThatComeWhileTheCommandStarts) {
  PassingSignals signals;
  PassingSignals::begin_command();
  const pid_t self = getpid();
  // Another process sends them: what this one sends itself is not for the command.
  const pid_t sender = fork();
  if (sender == 0) _exit(kill(self, SIGUSR1) == 0 && kill(self, SIGWINCH) == 0 ? 0 : 1);
  int status = -1;
  while (waitpid(sender, &status, 0) < 0 && errno == EINTR) {
  }
  ASSERT_EQ(status, 0);
  const Waiting command;
  signals.set_command(command.process());
  EXPECT_EQ(command.signal(), SIGUSR1);
  signals.end_command();
}

}  // namespace
}  // namespace syscost
