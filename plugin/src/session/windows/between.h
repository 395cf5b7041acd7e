// SPDX-License-Identifier: MIT
//
// Between: what the process does while no test, set-up or tear-down runs. Its window is the deputy of all others
// (core/window_book.h), and has its rows at the end of the process.
//
// A thread that a set-up started may close a file in one run before a test ends, and in the next run after that. The
// sum over tests and this window is the same in both.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/tally.h"
#include "session/windows/measurement.h"
#include "session/windows/own_calls.h"

namespace syscost::session {

/// The calling thread works for syscost while one of these exists, and maybe outside of windows: its calls are not
/// those of the process there. With --syscost_markers strace's log shows when. Without effect in a fork child.
class WorkBetween {
 public:
  explicit WorkBetween(const Measurement& shared)
      : shared_(shared), own_(shared.is_fork_child() ? nullptr : shared.counts_between()) {
    mark("syscost-works");
  }
  ~WorkBetween() { mark("syscost-rests"); }
  WorkBetween(const WorkBetween&) = delete;
  WorkBetween& operator=(const WorkBetween&) = delete;

 private:
  void mark(std::string_view text) const;

  const Measurement& shared_;
  const OwnCalls own_;
};

class Between {
 public:
  explicit Between(Measurement& shared) : shared_(shared) {}

  /// From now on these calls are counted, if a CSV will have them. Where the calling thread's own work cannot be told
  /// from the program's, they are not. Once; no window or loop is open.
  void begin();
  /// For the book of `opened`: what rests while another window runs. Null if nothing does.
  WindowBook::Window* deputy(const OpenBackend* opened) {
    has_rested_ = true;
    return opened == opened_ ? window_ : nullptr;
  }
  /// In a loop nothing of the process is counted but the loop's own passes.
  void stop();
  void go_on();
  /// Calls of the framework that were counted in other windows: the caller adds them.
  CallTable& of_framework() { return of_framework_; }
  /// Keeps the rows. With the recorder's lock.
  void end();

 private:
  Measurement& shared_;
  OpenBackend* opened_ = nullptr;
  WindowBook::Window* window_ = nullptr;
  std::uint64_t hidden_losses_before_ = 0;  ///< What came since is in its `lost`, and in that of a test, too.
  bool has_rested_ = false;                 ///< Else there was no test, and no row says anything of the process.
  CallTable of_framework_{&quiet_memory()};
};

}  // namespace syscost::session
