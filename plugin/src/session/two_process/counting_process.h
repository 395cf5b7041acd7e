// SPDX-License-Identifier: MIT
//
// The counting process: ChildRun starts this program once more to count, and reads what it sends. CountingProcess is
// the other end of the pipe. MainWatch explains at the end why a program that requested counts ran no benchmark.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "os/own_calls.h"
#include "syscost/counting.h"

namespace syscost::session::pipe_marks {

// The words that the two processes exchange beside the adapter's own lines.

/// The variable that makes a process a counting process: PID:DESCRIPTOR:REQUEST. The process id is part of it because
/// programs that a measured body starts inherit the variable, and are no counting processes. Google Benchmark's own
/// main executes itself once more, and keeps its id.
inline constexpr const char* kVariable = "SYSCOST_INTERNAL_COUNTING";
/// The last line: all lines were sent.
inline constexpr std::string_view kWhole = "\x04";
/// A line: exit() or quick_exit() was called.
inline constexpr std::string_view kLeaving = "\x05";
/// On stderr, which is another pipe: the measured body closed the first one, so nothing more can be sent.
inline constexpr std::string_view kClosed = "\x06";

}  // namespace syscost::session::pipe_marks

namespace syscost::session {

/// This process, if ChildRun started it to count, and the pipe to the process that did. Thread-safe.
class CountingProcess {
 public:
  /// Reads the variable that ChildRun set for this process.
  CountingProcess();

  /// False if no other process started this one to count, and in fork children.
  bool is_counting() const { return is_counting_ && !fork_detector_.is_fork_child(); }
  /// The request that ChildRun got; empty if this is no counting process.
  const std::string& request() const { return request_; }

  /// Sends one line; control characters except tabs become spaces. Inert if is_counting() is false.
  void send_line(std::string_view line);
  /// Sends that everything was sent, and ends the process at once, without static destructors.
  [[noreturn]] void end();

 private:
  bool read_variable();
  void send(std::string_view text);
  static void announce_leaving();

  ForkDetector fork_detector_;
  int pipe_ = -1;
  ino_t pipe_inode_ = 0;
  std::string request_;
  bool is_counting_ = false;
  std::atomic<bool> has_said_closed_{false};
};

/// The object of this process, made at the first call and never destroyed.
CountingProcess& counting_process();

/// Runs this program once more as a counting process, and reads what it sends.
class ChildRun {
 public:
  using OnLine = std::function<void(std::string_view)>;
  using OnWait = std::function<void(int seconds)>;

  /// The counting process gets `request` and, beside this process's environment, `variables` (NAME=VALUE).
  ChildRun(std::string_view request, std::vector<std::string> variables);

  ChildRun(const ChildRun&) = delete;
  ChildRun& operator=(const ChildRun&) = delete;

  /// Starts the process and reads until it has ended. `on_line` gets each line, `on_wait` the seconds since the last
  /// one, now and then. Call it once.
  adapter::CountingEnd run(const OnLine& on_line, const OnWait& on_wait);

 private:
  [[noreturn]] void become_counting_process(int pipe, int errors, pid_t parent);

  // All that the child needs, made before fork(): after it, the child must not allocate.
  std::vector<std::string> arguments_;
  std::vector<std::string> variables_;
  std::vector<char*> argv_;
  std::vector<char*> envp_;
  std::string request_;
  char counting_variable_[64 + 4096] = {};  // NAME=PID:DESCRIPTOR:REQUEST
};

/// Explains at the process's end why a program that requested counts ran no benchmark through its adapter.
class MainWatch {
 public:
  adapter::SharedAdapterState& state() { return state_; }

  /// Prints a message if the program requested something, and ran to its end (exit code `status`) without the adapter.
  /// Ends the program with 2 if the adapter could not do what was requested.
  void explain_at_exit(int status) const;

 private:
  ForkDetector fork_detector_;
  adapter::SharedAdapterState state_;
};

/// The object of this process, made at the first call and never destroyed.
MainWatch& main_watch();

}  // namespace syscost::session
