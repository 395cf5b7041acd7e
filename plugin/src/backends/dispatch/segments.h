// SPDX-License-Identifier: MIT
//
// Reads what the stub counted, and clears it for the next segment.
//
// A thread announces each recording before it reads its lane's control. So once a boundary has stored a new control, it
// is enough to wait until the recordings that were under way at that moment have ended; then no thread writes to the
// old bank. A thread can lose its processor in the middle of a recording, and on a busy machine it gets it back only
// after every other thread had its turn: so the limit of the wait is long. There is a limit because a thread may be
// stopped, and because a handler may leave a recording by longjmp: only the thread's next call would show that.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/state.h"
#include "core/backend.h"

namespace syscost::dispatch {

/// Who opened the process's windows that hold a segment: its record, null if it has none, and the number of
/// the opening, as in State::openings.
struct Opening {
  const signal_safe::Thread* thread = nullptr;
  std::uint32_t number = 0;
};

class Lanes;

/// Everything here is memory accesses only. Callers hold the window book's lock.
class Segments {
 public:
  Segments();

  /// The longest wait: some seconds.
  static constexpr std::uint64_t kMaxSpins = 100'000'000;

  /// Returns the number of calls that were or will be counted into the wrong bank: recordings that did not end in time,
  /// and recordings that were given up earlier and have ended since.
  [[nodiscard]] static std::uint64_t wait_for_recordings(std::uint64_t max_spins = kMaxSpins);
  /// True if a recording has been given up and has not ended: its thread may write yet.
  [[nodiscard]] static bool waits_for_any();
  /// Adds the counts of `lane`'s `bank` to `into` and clears them. False if threads counted in cells that they share.
  static bool take(Lane lane, std::uint32_t bank, const Lanes& lanes, CallTable& into);
  /// Returns the number of calls in `lane`'s `bank` without an event in the trace, and sets it to 0.
  static std::uint64_t take_untraced(Lane lane, std::uint32_t bank);
  /// Clears what stragglers left in `lane`'s `bank`. They were counted as late when it was read.
  static void clear_leftovers(Lane lane, std::uint32_t bank);
  /// Delivers the crossings logged since the last call. One that is being written this very moment belongs to a later
  /// segment, and waits for the next call.
  void take_crossings(const Lanes& lanes, CrossingSink& sink);
  std::uint64_t lost() const;

 private:
  std::uint64_t log_position_;  // of the first record that has not been delivered
  std::uint64_t log_lost_before_;
  std::uint64_t unseen_threads_before_;
  std::uint64_t log_gaps_ = 0;
};

}  // namespace syscost::dispatch
