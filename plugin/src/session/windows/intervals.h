// SPDX-License-Identifier: MIT
//
// Intervals: the time of a command's window in pieces, with a row each (`bench run --interval`).
//
// An interval ends where the next one begins, so the entries of all of them add up to those of the command. A call that
// ends in a later interval than it began is in flight in one and carried in in the other, and has no time there.
#pragma once

#include <cstdint>

#include "core/window_book.h"
#include "session/windows/measurement.h"

namespace syscost::session {

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
