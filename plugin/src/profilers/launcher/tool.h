// SPDX-License-Identifier: MIT
//
// Tool: one command that the launcher runs, from its start until it is reaped.
//
// Nothing here waits: the launcher polls every descriptor of every tool at once, so that one that hangs cannot keep
// another from ending, nor the launcher from seeing that the measured process is gone.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "profilers/launcher/protocol.h"

namespace syscost::profilers {

class Tool {
 public:
  enum class Kind { gate, control, whole, filter };

  Tool(Kind kind, std::vector<std::string> arguments) : kind_(kind), arguments_(std::move(arguments)) {}
  ~Tool();
  Tool(Tool&& other) noexcept;
  Tool& operator=(Tool&&) = delete;

  Kind kind() const { return kind_; }
  bool is_running() const { return pid_ > 0; }
  bool is_ready() const { return is_ready_; }
  bool has_ended() const { return has_ended_; }

  /// Forks and executes. What fails shows as a tool that has ended, with ToolEnd::start_errno. `input` is fed to its
  /// standard input, where it has no gate.
  void start(std::string input);

  /// Lets go of the gate, or orders the end: what happens next shows when the descriptors are polled.
  void stop();
  /// SIGTERM or SIGKILL.
  void kill(int signal);

  /// Its descriptors, for poll(2).
  void add_to(std::vector<pollfd>& polled) const;
  /// Reads and writes what can be without waiting. To be called after every poll.
  void pump();

  /// What it has used of the CPU. 0 when it does not run, and what a child of its own uses, sudo's, is not in.
  std::chrono::nanoseconds cpu_time() const;

  ToolEnd end() const { return end_; }
  std::string& output() { return output_; }
  const std::string& errors() const { return errors_; }

 private:
  [[noreturn]] void execute(int input, int output, int errors, int order, int ack, int report) const;
  void read_into(int& fd, std::string& text);
  void read_handshake();
  void feed();
  void reap();

  Kind kind_;
  std::vector<std::string> arguments_;
  pid_t pid_ = 0;
  int pidfd_ = -1;
  int gate_ = -1;   // our end of the gate's socket
  int order_ = -1;  // perf's control descriptors, our ends
  int ack_ = -1;
  int input_ = -1;  // our end of its standard input
  int output_fd_ = -1;
  int errors_fd_ = -1;
  int acks_ = 0;
  bool is_ready_ = false;
  bool is_stopping_ = false;
  bool has_ended_ = false;
  std::string to_feed_;
  std::size_t fed_ = 0;
  std::string output_;
  std::string errors_;
  ToolEnd end_{};
};

/// The gate as bpftrace's -c takes it: one word without spaces, wherever this program is installed.
std::string gate_command();

/// Closes and forgets.
void close_fd(int& fd);

}  // namespace syscost::profilers
