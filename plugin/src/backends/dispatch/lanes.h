// SPDX-License-Identifier: MIT
//
// The lanes that threads count in: which of a lane's two banks takes what is called now, and which thread is inside a
// scope of its own. A boundary stores one control word, which the stub reads.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "backends/dispatch/stub/state.h"
#include "core/backend.h"
#include "os/spin_lock.h"

namespace syscost::dispatch {

/// Memory accesses only. Any thread acquires; callers of the rest hold the window book's lock.
class Lanes {
 public:
  /// Generations go on after `last`: a record in the log names them, and an earlier backend of this process made some.
  explicit Lanes(Generation last) : generation_(last) {}

  /// The lane that `thread` has already, or a free one; empty when there is none.
  std::optional<AcquiredLane> acquire(signal_safe::Thread& thread);
  /// As Backend::boundary.
  Generation boundary(Lane lane, Next next);
  /// The bank of the segment that the last boundary of `lane` ended.
  std::uint32_t ended_bank(Lane lane) const { return lanes_[static_cast<std::uint32_t>(lane)].ended_bank; }
  Generation generation() const { return generation_; }

 private:
  struct State {
    std::uint32_t bank = 0;  // of the current or, when disarmed, the last segment
    std::uint32_t ended_bank = 0;
    signal_safe::Thread* owner = nullptr;  // the thread inside a scope
  };
  std::array<State, signal_safe::kLanes> lanes_;
  SpinLock owners_lock_;
  Generation generation_;
};

/// Disarms all lanes, whichever thread owns them: at the end.
void disarm_every_lane();

}  // namespace syscost::dispatch
