// SPDX-License-Identifier: MIT
//
// LauncherLink: the measured process's side of one run of the profile launcher.
//
// The launcher is started so that a test cannot notice it: no SIGCHLD, invisible to wait(), none of the test's
// descriptors in it, one close-on-exec descriptor of ours at a high number. A test cannot break it: its signal masks,
// dispositions, umask, limits and environment do not depend on what the test changed.
//
// Makes syscalls: between windows only. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "os/errors.h"

namespace syscost::profilers {

/// One command for the launcher; `kind` is a word of launcher/protocol.h.
struct Command {
  std::string_view kind;
  std::vector<std::string> arguments;  ///< The first is an absolute path.
};

/// The result of a command.
struct CommandResult {
  std::string output;
  std::string errors;
  int start_errno = 0;  ///< Why it could not be executed; 0: it was.
  int wait_status = 0;
  bool was_ready = false;
  bool ended_early = false;    ///< It ended before it was stopped.
  bool has_timed_out = false;  ///< It was not ready, or did not end, in time, and did no work meanwhile.
  bool is_truncated = false;
};

/// How long to wait for a tool that does no work. The launcher waits longer for one that works (launcher/launcher.h).
struct LauncherLimits {
  std::chrono::milliseconds start{30'000};
  std::chrono::milliseconds stop{30'000};
};

class LauncherLink {
 public:
  /// `environment` is the commands' whole environment, "NAME=value".
  LauncherLink(std::string launcher_path, std::vector<std::string> environment, LauncherLimits limits);
  /// Ends the launcher and the commands that still run, without results.
  ~LauncherLink();
  LauncherLink(const LauncherLink&) = delete;
  LauncherLink& operator=(const LauncherLink&) = delete;

  /// Starts the launcher and `commands`. Returns true when all are ready. If one fails, returns false: results() say
  /// why, and nothing runs any more. Fails if the launcher itself fails.
  Result<bool> start(const std::vector<Command>& commands);

  /// Stops the commands, waits for their ends and fills results(). Fails if the test closed our descriptor, or if the
  /// launcher is gone; then, too, nothing runs any more.
  Result<void> stop();

  bool is_running() const { return launcher_ > 0; }
  /// One for each command, after start() returned false or stop() succeeded.
  std::vector<CommandResult>& results() { return results_; }

 private:
  Result<void> launch(const std::vector<Command>& commands);
  /// Reads frames until `kReady` (true) or `kDone` (false).
  Result<bool> read_frames(std::chrono::milliseconds limit);
  void end_launcher();

  std::string launcher_path_;
  std::vector<std::string> environment_;
  LauncherLimits limits_;
  pid_t launcher_ = 0;
  pid_t owner_ = 0;
  pid_t session_ = 0;  // of the launcher
  int link_ = -1;
  std::vector<CommandResult> results_;
};

/// One command run to its end. Fails like LauncherLink::start.
Result<CommandResult> run_whole(const std::string& launcher_path, const std::vector<std::string>& environment,
                                std::vector<std::string> arguments);

}  // namespace syscost::profilers
