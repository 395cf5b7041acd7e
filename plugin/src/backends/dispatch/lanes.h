// SPDX-License-Identifier: MIT
//
// The lanes that threads count in. Each lane has two banks; one of them takes the present calls. A thread inside a
// scope of its own has a lane for itself. A boundary stores one control word, which the stub reads.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "backends/dispatch/segments.h"
#include "backends/dispatch/stub/state.h"
#include "core/backend.h"
#include "os/spin_lock.h"

namespace syscost::dispatch {

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
    // Of the segment in each bank.
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
