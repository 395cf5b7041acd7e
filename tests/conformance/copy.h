// SPDX-License-Identifier: MIT
//
// Copy: a second measuring process, for the cases in which one is not alone or does not survive.
//
// It is this very program started again with `--copy ROLE`: it opens a process scope, says so on a pipe, waits for its
// cue and plays its role.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace conformance {

class Copy {
 public:
  /// Starts the program with `--copy role` and waits until its window is open. Not inside a window.
  explicit Copy(const std::string& role);
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  pid_t pid() const { return pid_; }
  /// One `write`: tells it to go on.
  bool cue() const;
  /// One `wait4`; the wait status, -1 when that failed.
  int wait() const;
  /// After wait(): a problem() when a supervisor of seccomp's that it had is still there. Not inside a window.
  void require_nothing_left() const;

 private:
  pid_t pid_ = -1;
  int cue_fd_ = -1;
  std::vector<int> helpers_;  // pidfds
};

/// Whether copies open scopes (they do unless told otherwise).
void copies_open_scopes(bool open);

/// The work of main() for `--copy ROLE`. "spin": until killed. "die": by exit_group(37) with a thread blocked in read.
/// "count": its own calls (exit status 0: the count was exact). "again": the same after a window that lost its programs
/// (it says whether the second count is exact; the library ends the run non-zero). "daemon": "count", and leave a
/// process. Returns the exit status; 2 for an unknown role.
int play_role(const std::string& role);

}  // namespace conformance
