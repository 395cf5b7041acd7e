// SPDX-License-Identifier: MIT
//
// Windows that no adapter opens: one of what happens between the adapter's windows, and the intervals of a command.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/tally.h"
#include "core/window_book.h"
#include "session/windows/backend_holder.h"
#include "session/windows/measurement.h"

namespace syscost::session {

// Between: what the process does while no test, set-up or tear-down runs. Its window is the deputy of all others
// (core/window_book.h), and has its rows at the end of the process.
//
// A thread that a set-up started may close a file in one run before a test ends, and in the next run after that. The
// sum over tests and this window is the same in both.

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
  std::uint64_t hidden_losses_before_ = 0;  ///< Later ones are in its `lost`, and in that of a test, too.
  bool has_rested_ = false;                 ///< Else there was no test, and no row says anything of the process.
  CallTable of_framework_{&quiet_memory()};
};

// Intervals: the time of a command's window in pieces, with a row each (`bench run --interval`).
//
// An interval ends where the next one begins, so the numbers of all of them add up to those of the command. A call that
// ends in a later interval than it began belongs to the later one, with all its time (WindowBook::replace()).

class Intervals {
 public:
  explicit Intervals(Measurement& shared) : shared_(shared) {}

  /// The first interval begins. The command's window is open, and its command does not run yet.
  void begin();
  /// Ends the running interval, writes its row, and begins the next one.
  void next();
  /// Ends the last interval and writes its row, before the command's window closes.
  void end();

 private:
  void write_row(detail::CostData& cost, std::uint64_t end_ns);

  Measurement& shared_;
  WindowBook::Window* running_ = nullptr;  // null: there are no intervals
  std::uint64_t start_ns_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace syscost::session
