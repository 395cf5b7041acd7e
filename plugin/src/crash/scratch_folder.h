// SPDX-License-Identifier: MIT
//
// A directory for the states of one run, which no other user can enter. It goes with all it holds.
//
// A check that crashes, or SIGKILL, leaves it. So its owner holds a lock on it, and the next run of the same user
// removes those without one.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "os/result.h"

namespace syscost::crash {

class ScratchFolder {
 public:
  /// Prints a line.
  using Tell = std::function<void(const std::string& line)>;

  /// In TMPDIR, or in /tmp. Removes those of runs that have ended without removing theirs. `tell` learns what could not
  /// be removed, then and at the end.
  static Result<ScratchFolder> make(const Tell& tell = {});
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const std::string& path() const { return path_; }
  /// Removes what lies in it. What is left is still there at the end, and told then.
  void clear() const;

 private:
  ScratchFolder(std::string path, int lock, Tell tell);

  std::string path_;
  int lock_;
  Tell tell_;
  pid_t owner_;  // a fork child of a check removes nothing
};

}  // namespace syscost::crash
