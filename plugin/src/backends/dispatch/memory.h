// SPDX-License-Identifier: MIT
//
// Reserves the memory that the stub counts in, and gives the stub its clock.
#pragma once

#include <cstdint>

#include "os/errors.h"

namespace syscost::dispatch {

/// Reserves the arena and the lanes, once per process. They stay for ever, because a thread may be in the stub at any
/// time.
Result<void> reserve_memory();

/// The time-stamp counter and the monotonic clock at one time, some ten nanoseconds apart at most.
struct Instant {
  std::uint64_t ticks = 0;
  std::uint64_t ns = 0;
};
Instant read_both_clocks();

/// Measures how long a tick of the time-stamp counter is, against the monotonic clock, from construction to settle():
/// over the time that opening the backend takes anyway, and half a millisecond at least. The stub gets no clock if the
/// counter does not run evenly.
class ClockRate {
 public:
  ClockRate();
  void settle() const;

 private:
  std::uint64_t ticks_ = 0;
  std::uint64_t ns_ = 0;  // 0 = there is nothing to measure
};

}  // namespace syscost::dispatch
