// SPDX-License-Identifier: MIT
//
// Tool: one command that the launcher runs, from its start until it is reaped.
//
// Nothing here waits: the launcher polls all descriptors of all tools at once. So a tool that hangs cannot stop another
// one from ending, and the launcher still sees when the measured process is gone.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "extras/profilers/launcher/protocol.h"

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

  /// Forks and executes. After a failure the tool has ended, with ToolEnd::start_errno. A tool without a gate gets
  /// `input` on its standard input.
  void start(std::string input);

  /// Closes the gate, or sends the order to end. poll(2) shows when the tool has ended.
  void stop();
  /// SIGTERM or SIGKILL.
  void kill(int signal);

  /// Its descriptors, for poll(2).
  void add_to(std::vector<pollfd>& polled) const;
  /// Reads and writes without waiting. Call it after each poll.
  void pump();

  /// Returns the CPU time that it used; 0 if it does not run. The time of its children is missing, for example of
  /// sudo's.
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

/// The gate's command for bpftrace's -c: one word without spaces, also if the path of this program has some.
std::string gate_command();

/// Closes `fd`, and sets it to -1.
void close_fd(int& fd);

}  // namespace syscost::profilers
