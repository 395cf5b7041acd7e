// SPDX-License-Identifier: MIT
//
// Counting one call, by the thread that made it.
#pragma once

#include <cstdint>

#include "signal_safe/call.h"

namespace syscost::signal_safe {

/// Counts a call that has returned `result` at time `now`, in the segment it entered if that still runs, else as a
/// crossing. `has_result` is false for rt_sigreturn, which never comes back: a call without error and latency.
void record(const Guard& guard, const Call& call, std::uint64_t now, bool has_result = true);

}  // namespace syscost::signal_safe
