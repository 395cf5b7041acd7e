// SPDX-License-Identifier: MIT
//
// LauncherLink: one run of the profile launcher, seen from the measured process.
//
// The launcher is started so that a test cannot notice it: no SIGCHLD, invisible to wait(), none of the test's
// descriptors in it, one close-on-exec descriptor of ours at a high number. And so that a test cannot break it: signal
// masks, dispositions, umask, limits and environment are not what the test made of them.
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

/// One command for the launcher; `kind` is a word of launcher/protocol.h.
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

/// Of a tool that does nothing. One that works is waited for longer (launcher/patience.h).
struct LauncherLimits {
  std::chrono::milliseconds start{30'000};
  std::chrono::milliseconds stop{30'000};
};

class LauncherLink {
 public:
  /// `environment` is the commands' whole environment, "NAME=value".
  LauncherLink(std::string launcher_path, std::vector<std::string> environment, LauncherLimits limits);
  /// Ends what still runs, without asking for results.
  ~LauncherLink();
  LauncherLink(const LauncherLink&) = delete;
  LauncherLink& operator=(const LauncherLink&) = delete;

  /// Starts the launcher and `commands` and returns when every one is ready: true. Or when one failed: false, results()
  /// say why, and nothing runs any more. Fails when the launcher itself does.
  Result<bool> start(const std::vector<Command>& commands);

  /// Stops the commands, waits for their ends and fills results(). Fails when the test closed our descriptor or the
  /// launcher is gone; nothing runs any more then either.
  Result<void> stop();

  bool is_running() const { return launcher_ > 0; }
  /// As many as commands, after start() said false or stop() succeeded.
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
