// SPDX-License-Identifier: MIT
//
// SignalHold: keeps a write of ours from ending the user's program by a signal.
//
// A test may set RLIMIT_FSIZE, or close the other end of stderr's pipe. The kernel then sends SIGXFSZ or SIGPIPE to the
// thread that writes, and by default they end the program. While this object lives, the thread blocks the signal.
// Before it restores the mask, it removes a signal that our write caused: the write's errno says enough.
#pragma once

#include <pthread.h>

#include <csignal>
#include <ctime>

namespace syscost {

/// Both signals are sent to the writing thread, so the thread's mask is enough. Makes syscalls: between windows only.
class SignalHold {
 public:
  explicit SignalHold(int signal) {
    sigemptyset(&held_);
    sigaddset(&held_, signal);
    is_held_ = pthread_sigmask(SIG_BLOCK, &held_, &before_) == 0;
    // One that the thread does not block waits nowhere.
    if (!is_held_ || sigismember(&before_, signal) != 1) return;
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, signal) == 1;
  }
  ~SignalHold() {
    if (!is_held_) return;
    // One that already waited is the user's.
    const timespec no_time{};
    if (may_be_raised_ && !was_pending_) sigtimedwait(&held_, nullptr, &no_time);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  /// Each write so far has succeeded: none of them raised the signal. Saves a syscall.
  void was_not_raised() { may_be_raised_ = false; }
  SignalHold(const SignalHold&) = delete;
  SignalHold& operator=(const SignalHold&) = delete;

 private:
  sigset_t held_{};
  sigset_t before_{};
  bool was_pending_ = false;
  bool may_be_raised_ = true;
  bool is_held_ = false;
};

}  // namespace syscost
