// SPDX-License-Identifier: MIT
//
// Reads what the stub counted, and clears it for the next segment.
//
// A thread announces each recording before it reads its lane's control. So once a boundary has stored a new control, it
// is enough to wait until the recordings that were under way at that moment have ended; then nobody writes to the old
// bank. The wait is bounded: a thread that is still recording then has either lost its processor for long, and may add
// one call too late, or was left by a longjmp out of a signal handler and never ends.
#pragma once

#include <cstdint>

#include "core/backend.h"
#include "signal_safe/state.h"

namespace syscost::dispatch {

/// Everything here is memory accesses only. Callers hold the window book's lock.
class Segments {
 public:
  Segments();

  /// Returns the number of recordings, each good for at most one call, that had not ended in time.
  [[nodiscard]] static std::uint64_t wait_for_recordings();
  /// Adds the counts of `lane`'s `bank` to `into` and clears them.
  static void take(Lane lane, std::uint32_t bank, CallTable& into);
  /// Clears what stragglers left in `lane`'s `bank`. They were counted as late when it was read.
  static void clear_leftovers(Lane lane, std::uint32_t bank);
  /// Delivers the crossings logged since the last call.
  void take_crossings(CrossingSink& sink);
  std::uint64_t lost() const;

 private:
  std::uint64_t log_position_;
  std::uint64_t log_lost_before_;
  std::uint64_t log_gaps_ = 0;
};

}  // namespace syscost::dispatch
