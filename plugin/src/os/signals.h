// SPDX-License-Identifier: MIT
//
// Signals: those of a fault, those that are passed on to a command, and those that syscost keeps from the program.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace syscost {

/// Signals by which a program ends for a fault of its own, not because another process sent them: that of abort(), and
/// those that an instruction raises.
inline constexpr int kFaultSignals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

constexpr bool is_fault_signal(int signal) {
  for (const int fault : kFaultSignals) {
    if (signal == fault) return true;
  }
  return false;
}

/// If a thread blocks such a signal, the instruction that raises it kills the process.
constexpr bool is_raised_by_instruction(int signal) {
  return signal != SIGABRT && is_fault_signal(signal);
}

/// Passes signals on to a command, as long as it lives. Make at most one at a time.
///
/// A program that runs a command for its user, as `bench run` does, gets signals that are meant for the command. The
/// kernel sends the signals of a terminal (Ctrl-C) to the command, too, so those are not passed on. A signal that a
/// process sends to this program alone is passed on, and so is that of an alarm() that was set before this program was
/// executed.
class PassingSignals {
 public:
  /// Before a command runs, such a signal does to this process what it did before; where it ends it, its handler calls
  /// `clean_up` first. Signals that are ignored stay ignored until then, so that the command finds them ignored, too.
  explicit PassingSignals(void (*clean_up)() = nullptr) {
    clean_up_ = clean_up;
    for_each_signal([&](int signal) {
      sigaction(signal, nullptr, &before_[signal]);
      if (before_[signal].sa_handler != SIG_IGN) pass(signal);
    });
    sigaction(SIGPIPE, nullptr, &before_[SIGPIPE]);
  }
  PassingSignals(const PassingSignals&) = delete;
  PassingSignals& operator=(const PassingSignals&) = delete;
  ~PassingSignals() {
    for_each_signal([&](int signal) { sigaction(signal, &before_[signal], nullptr); });
  }

  /// A command is about to start: signals wait for it.
  static void begin_command() { is_starting_ = true; }

  /// The command is process `command`, and gets the signals from now on. -1: it did not start. SIGPIPE is ignored.
  void set_command(pid_t command) {
    for_each_signal([&](int signal) {
      // A command that ignores it as well would run on while this process is stopped.
      if (before_[signal].sa_handler == SIG_IGN && signal != SIGTSTP) pass(signal);
    });
    struct sigaction ignoring {};
    ignoring.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignoring, nullptr);
    command_ = command;
    is_starting_ = false;
    const std::uint64_t waiting = waiting_.exchange(0);
    for_each_signal([&](int signal) {
      if ((waiting & bit_of(signal)) == 0) return;
      if (command > 0) {
        kill(command, signal);
        if (signal == SIGTSTP) act(signal);
      } else {
        raise(signal);
      }
    });
  }

  /// The command has ended. Call it before waitpid() frees the process id.
  ///
  /// The next signal is then ignored, and the one after it ends this process: the first was often sent to both, and
  /// this process still writes what it knows of the command.
  void end_command() {
    spares_one_ = true;
    command_ = 0;
    for_each_signal([&](int signal) {
      if (before_[signal].sa_handler == SIG_IGN) sigaction(signal, &before_[signal], nullptr);
    });
    sigaction(SIGPIPE, &before_[SIGPIPE], nullptr);
  }

 private:
  /// Calls `use` with each signal that is passed on: all but those that no process handles, those of this process's own
  /// children, pipes, files and faults, and those that stop what reads or writes a terminal in the background.
  template <class Use>
  static void for_each_signal(const Use& use) {
    for (int signal = 1; signal < NSIG; ++signal) {
      if (is_raised_by_instruction(signal)) continue;
      switch (signal) {
        case SIGKILL:
        case SIGSTOP:
        case SIGCHLD:
        case SIGPIPE:
        case SIGXFSZ:
        case SIGTTIN:
        case SIGTTOU:
          break;
        default:
          // Those between the usual ones and the real-time ones are libc's.
          if (signal < __SIGRTMIN || signal >= SIGRTMIN) use(signal);
      }
    }
  }

  static constexpr std::uint64_t bit_of(int signal) { return std::uint64_t{1} << static_cast<unsigned>(signal - 1); }

  static void pass(int signal) {
    struct sigaction passing {};
    passing.sa_sigaction = handle;
    passing.sa_flags = SA_RESTART | SA_SIGINFO;
    sigaction(signal, &passing, nullptr);
  }

  /// Does what the signal does to a process that does not handle it.
  static void act(int signal) {
    struct sigaction acting {};
    acting.sa_handler = SIG_DFL;
    struct sigaction passing {};
    sigaction(signal, &acting, &passing);
    sigset_t its{};
    sigemptyset(&its);
    sigaddset(&its, signal);
    sigset_t before{};
    pthread_sigmask(SIG_UNBLOCK, &its, &before);
    raise(signal);  // it ends this process, or stops it until another process continues it
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    sigaction(signal, &passing, nullptr);
  }

  static void handle(int signal, siginfo_t* info, void*) {
    const int kept = errno;
    // A signal from a process has a code of at most 0. If the command sent it to its whole group, it got it itself.
    const bool is_sent = info->si_code <= 0 && info->si_pid != getpid();
    const bool is_for_command = is_sent || (signal == SIGALRM && info->si_code > 0);
    const bool ends_nothing = signal == SIGCONT || signal == SIGWINCH || signal == SIGURG;
    const pid_t command = command_;
    if (command > 0) {
      if (!is_for_command || (is_sent && info->si_pid == command)) {
        // It has it already, or a terminal sends it one.
      } else if (info->si_code == SI_QUEUE) {
        sigqueue(command, signal, info->si_value);
      } else {
        kill(command, signal);
      }
    } else if (is_starting_) {
      if (is_for_command) waiting_ |= bit_of(signal);
    } else if (!ends_nothing && signal != SIGTSTP && !spares_one_.exchange(false)) {
      if (void (*const clean_up)() = clean_up_; clean_up != nullptr) clean_up();
      act(signal);
    }
    // As a shell sees it, this process is the command. While it starts, the signal waits.
    if (signal == SIGTSTP && !is_starting_) act(signal);
    errno = kept;
  }

  inline static std::atomic<pid_t> command_{0};
  inline static std::atomic<bool> is_starting_{false};
  inline static std::atomic<std::uint64_t> waiting_{0};
  inline static std::atomic<bool> spares_one_{false};
  inline static std::atomic<void (*)()> clean_up_{nullptr};
  std::array<struct sigaction, NSIG> before_{};
};

/// For main() of a program of ours: a limit of the size of files (RLIMIT_FSIZE) is EFBIG of write(2) from now on, and
/// does not end the process by SIGXFSZ. By a handler, because exec resets it: a command gets the signal as it would
/// without us.
inline void survive_size_limit() {
  struct sigaction before {};
  if (sigaction(SIGXFSZ, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) return;
  struct sigaction nothing {};
  nothing.sa_handler = [](int) {};
  sigaction(SIGXFSZ, &nothing, nullptr);
}

/// Keeps a write of ours from ending the user's program by a signal.
///
/// A test may set RLIMIT_FSIZE, or close the other end of stderr's pipe. The kernel then sends SIGXFSZ or SIGPIPE to
/// the thread that writes, and by default they end the program. While this object lives, the thread blocks the signal.
/// Before it restores the mask, it removes a signal that our write caused: the write's errno says enough.
///
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

/// The process's alarm (alarm(2), ITIMER_REAL) does not run while work of ours makes the program late: from this
/// object's construction to its destruction.
///
/// A test may set an alarm and return: it knows that the program ends before the alarm. Writing a trace of the test, or
/// finding its lines, may take longer, and SIGALRM would end the program before its verdict.
///
/// The alarm then has as much time left as before. Makes one or two syscalls each, so outside of windows only. An alarm
/// that another thread sets meanwhile stays; one that another thread cancels meanwhile comes back.
class PausedAlarm {
 public:
  PausedAlarm();
  ~PausedAlarm();
  PausedAlarm(const PausedAlarm&) = delete;
  PausedAlarm& operator=(const PausedAlarm&) = delete;

 private:
  itimerval left_{};  // all 0: there was no alarm
};

}  // namespace syscost
