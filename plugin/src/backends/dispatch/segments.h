// SPDX-License-Identifier: MIT
//
// Segments, and the lanes that threads count in: begins a segment at a boundary, reads the counts that the stub made in
// it, and clears them for the next one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "backends/dispatch/stub/common/state.h"
#include "core/backend.h"
#include "os/spin_lock.h"

namespace syscost::dispatch {

/// Who opened the process's windows that hold a segment: its record, null if it has none, and the number of
/// the opening, as in State::openings.
struct Opening {
  const signal_safe::Thread* thread = nullptr;
  std::uint32_t number = 0;
};

class Lanes;

/// Reads what the stub counted. Memory accesses only; callers hold the window book's lock.
///
/// A thread announces each recording before it reads its lane's control. So once a boundary has stored a new control,
/// it is enough to wait until the recordings that were under way at that moment have ended; then no thread writes to
/// the old bank. A thread can lose its processor in the middle of a recording, and on a busy machine it gets it back
/// only after every other thread had its turn: so the limit of the wait is long. There is a limit because a thread may
/// be stopped, and because a handler may leave a recording by longjmp: only the thread's next call would show that.
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
  static std::uint64_t take_unkept(Lane lane, std::uint32_t bank);
  /// Clears counts that stragglers left in `lane`'s `bank`. They were counted as late when it was read.
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

/// Each lane has two banks; one of them takes the present calls. A thread inside a scope of its own has a lane for
/// itself. A boundary stores one control word, which the stub reads.
///
/// Memory accesses only. Any thread may call acquire(). For the other functions, the caller holds the window book's
/// lock.
class Lanes {
 public:
  /// Generations go on after `last`: a record in the log names them, and an earlier backend of this process made some.
  explicit Lanes(Generation last) : generation_(last) {}

  /// Returns the lane that `thread` has already, else a free one; empty if there is none.
  std::optional<AcquiredLane> acquire(signal_safe::Thread& thread);
  /// As Backend::boundary.
  Generation boundary(Lane lane, Next next);
  /// The bank of the segment that the last boundary of `lane` ended.
  std::uint32_t ended_bank(Lane lane) const { return lanes_[static_cast<std::uint32_t>(lane)].ended_bank; }
  Generation generation() const { return generation_; }

  /// From the next boundary of each lane on, `thread` is who opened the process's windows.
  void open(const signal_safe::Thread* thread);
  Opening opening(Lane lane, std::uint32_t bank) const {
    return lanes_[static_cast<std::uint32_t>(lane)].opening[bank];
  }
  /// The thread that the lane was for; null = all that have none.
  const signal_safe::Thread* thread_of(Lane lane, std::uint32_t bank) const {
    return lanes_[static_cast<std::uint32_t>(lane)].thread[bank];
  }

 private:
  struct State {
    std::uint32_t bank = 0;  // of the current or, when disarmed, the last segment
    std::uint32_t ended_bank = 0;
    signal_safe::Thread* owner = nullptr;  // the thread inside a scope
    // For the segment in each bank.
    std::array<Opening, signal_safe::kBanks> opening;
    std::array<const signal_safe::Thread*, signal_safe::kBanks> thread{};
  };
  std::array<State, signal_safe::kLanes> lanes_;
  Opening opening_;
  SpinLock owners_lock_;
  Generation generation_;
};

/// Disarms the lanes of all threads, at the end.
void disarm_every_lane();

}  // namespace syscost::dispatch
