// SPDX-License-Identifier: MIT
//
// Trials: the states of a recording, one by one as files for a check, and the folder in which these files lie.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>

#include "extras/crash/states/journal.h"
#include "extras/crash/states/model.h"
#include "extras/crash/states/states.h"
#include "os/errors.h"
#include "syscost/crash.h"

namespace syscost::crash {

/// A directory for the states of one run, which no other user can enter. It goes with all it holds.
///
/// A check that crashes, or SIGKILL, leaves it. So its owner holds a lock on it, and the next run of the same user
/// removes those without one.
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
  /// Removes what lies in it. Anything left is still there at the end, and told then.
  void clear() const;

 private:
  ScratchFolder(std::string path, int lock, Tell tell);

  std::string path_;
  int lock_;
  Tell tell_;
  pid_t owner_;  // a fork child of a check removes nothing
};

/// Fails for options that make no sense.
Result<void> check_options(const CrashOptions& options);

class Trials {
 public:
  Trials(Recording recording, const CrashOptions& options);

  std::size_t size() const { return states_.states.size(); }
  /// A state as its check gets it; `path`: where make() has put it.
  CrashPoint point(std::size_t index, const std::string& path) const;
  /// Makes the state's files in `path`, which is not there yet.
  Result<void> make_files(std::size_t index, const std::string& path) const;
  /// The part of the report that does not depend on the checks.
  CrashReport report() const;

 private:
  Recording recording_;
  Plan plan_;
  States states_;
};

}  // namespace syscost::crash
