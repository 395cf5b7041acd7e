// SPDX-License-Identifier: MIT
//
// Reserves the memory that the stub counts in, and gives the stub its clock.
#pragma once

#include "core/result.h"

namespace syscost::dispatch {

/// The arena and the lanes; once per process, kept for ever, because a thread may be in the stub at any time.
Result<void> reserve_memory();

/// Measures how long a tick of the time-stamp counter is, against the monotonic clock, over two milliseconds. Leaves
/// the stub without a clock where the counter does not run evenly.
void calibrate_clock();

}  // namespace syscost::dispatch
