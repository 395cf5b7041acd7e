// SPDX-License-Identifier: MIT
//
// CountingProcess: this process, if another one started it to count (ChildRun), and the pipe to that process.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <string>
#include <string_view>

#include "os/fork_detector.h"

namespace syscost::session {

/// Thread-safe.
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

}  // namespace syscost::session
