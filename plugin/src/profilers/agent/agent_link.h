// SPDX-License-Identifier: MIT
//
// AgentLink: one run of the profile agent, seen from the measured process.
//
// The agent is started so that a test cannot notice it: no SIGCHLD, invisible to wait(), none of the test's descriptors
// in it, one close-on-exec descriptor of ours at a high number. And so that a test cannot break it: signal masks,
// dispositions, umask, limits and environment are not what the test made of them.
//
// Makes syscalls: between windows only. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "os/result.h"

namespace syscost::profilers {

/// One command for the agent; `kind` is a word of agent/protocol.h.
struct Command {
  std::string_view kind;
  std::vector<std::string> arguments;  ///< The first is an absolute path.
};

/// What came of it.
struct CommandResult {
  std::string output;
  std::string errors;
  int start_errno = 0;  ///< Why it could not be executed; 0: it was.
  int wait_status = 0;
  bool was_ready = false;
  bool ended_early = false;    ///< Before it was told to.
  bool has_timed_out = false;  ///< Was not ready, or did not end, in time, and did nothing meanwhile.
  bool is_truncated = false;
};

/// Of a tool that does nothing. One that works is waited for longer (agent/patience.h).
struct AgentLimits {
  std::chrono::milliseconds start{30'000};
  std::chrono::milliseconds stop{30'000};
};

class AgentLink {
 public:
  /// `environment` is the commands' whole environment, "NAME=value".
  AgentLink(std::string agent_path, std::vector<std::string> environment, AgentLimits limits);
  /// Ends what still runs, without asking for results.
  ~AgentLink();
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;

  /// Starts the agent and `commands` and returns when every one is ready: true. Or when one failed: false, results()
  /// say why, and nothing runs any more. Fails when the agent itself does.
  Result<bool> start(const std::vector<Command>& commands);

  /// Stops the commands, waits for their ends and fills results(). Fails when the test closed our descriptor or the
  /// agent is gone; nothing runs any more then either.
  Result<void> stop();

  bool is_running() const { return agent_ > 0; }
  /// As many as commands, after start() said false or stop() succeeded.
  std::vector<CommandResult>& results() { return results_; }

 private:
  Result<void> launch(const std::vector<Command>& commands);
  /// Reads frames until `kReady` (true) or `kDone` (false).
  Result<bool> read_frames(std::chrono::milliseconds limit);
  void end_agent();

  std::string agent_path_;
  std::vector<std::string> environment_;
  AgentLimits limits_;
  pid_t agent_ = 0;
  pid_t owner_ = 0;
  pid_t session_ = 0;  // of the agent
  int link_ = -1;
  std::vector<CommandResult> results_;
};

/// One command run to its end. Fails like AgentLink::start.
Result<CommandResult> run_whole(const std::string& agent_path, const std::vector<std::string>& environment,
                                std::vector<std::string> arguments);

}  // namespace syscost::profilers
