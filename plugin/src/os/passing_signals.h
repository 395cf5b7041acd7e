// SPDX-License-Identifier: MIT
//
// A program that runs a command for its user, as `bench run` does, gets signals that are meant for the command.
//
// The kernel sends the signals of a terminal (Ctrl-C) to the command, too, so those are not passed on. A signal that a
// process sends to this program alone is passed on.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>

namespace syscost {

/// Passes SIGINT, SIGQUIT, SIGTERM and SIGHUP on, as long as it lives. Make at most one at a time.
class PassingSignals {
 public:
  /// Before a command runs, such a signal ends this process as before; its handler calls `clean_up` first. Signals
  /// that are ignored stay ignored until then, so that the command finds them ignored, too.
  explicit PassingSignals(void (*clean_up)() = nullptr) {
    clean_up_ = clean_up;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) pass(kSignals[i]);
    }
    sigaction(SIGPIPE, nullptr, &pipe_before_);
  }
  PassingSignals(const PassingSignals&) = delete;
  PassingSignals& operator=(const PassingSignals&) = delete;
  ~PassingSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }

  /// A command is about to start: signals wait for it.
  static void begin_command() { is_starting_ = true; }

  /// The command is process `command`, and gets the signals from now on. -1: it did not start. SIGPIPE is ignored.
  void set_command(pid_t command) {
    for (const int signal : kSignals) pass(signal);
    struct sigaction ignoring {};
    ignoring.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignoring, nullptr);
    command_ = command;
    is_starting_ = false;
    if (const int waiting = waiting_.exchange(0); waiting != 0) {
      if (command > 0) {
        kill(command, waiting);
      } else {
        raise(waiting);
      }
    }
  }

  /// The command has ended. Call it before waitpid() frees the process id.
  ///
  /// The next signal is then ignored, and the one after it ends this process: the first was often sent to both, and
  /// this process still writes what it knows of the command.
  void end_command() {
    spares_one_ = true;
    command_ = 0;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      if (before_[i].sa_handler == SIG_IGN) sigaction(kSignals[i], &before_[i], nullptr);
    }
    sigaction(SIGPIPE, &pipe_before_, nullptr);
  }

 private:
  static constexpr std::array<int, 4> kSignals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

  static void pass(int signal) {
    struct sigaction passing {};
    passing.sa_sigaction = handle;
    passing.sa_flags = SA_RESTART | SA_SIGINFO;
    sigaction(signal, &passing, nullptr);
  }

  static void handle(int signal, siginfo_t* info, void*) {
    const int kept = errno;
    // A signal from a process has a code of at most 0. If the command sent it to its whole group, it got it itself.
    const bool is_for_command = info->si_code <= 0;
    if (const pid_t command = command_; command > 0) {
      if (is_for_command && info->si_pid != command) kill(command, signal);
    } else if (is_starting_) {
      if (is_for_command) waiting_ = signal;
    } else if (!spares_one_.exchange(false)) {
      if (void (*const clean_up)() = clean_up_; clean_up != nullptr) clean_up();
      struct sigaction ending {};
      ending.sa_handler = SIG_DFL;
      sigaction(signal, &ending, nullptr);
      raise(signal);  // delivered when this handler returns
    }
    errno = kept;
  }

  inline static std::atomic<pid_t> command_{0};
  inline static std::atomic<bool> is_starting_{false};
  inline static std::atomic<int> waiting_{0};
  inline static std::atomic<bool> spares_one_{false};
  inline static std::atomic<void (*)()> clean_up_{nullptr};
  std::array<struct sigaction, kSignals.size()> before_{};
  struct sigaction pipe_before_ {};
};

}  // namespace syscost
