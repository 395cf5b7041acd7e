// SPDX-License-Identifier: MIT
//
// What becomes of a call that needs care (special.cc) when a handler interrupts it.
#pragma once

#include "backends/dispatch/stub/call.h"

namespace syscost::signal_safe {

/// Ends a call that has just come back, with its result in place, from a handler that interrupted the thread right
/// there. False, and nothing done, where only the thread itself can: in a child, or where it may wait once more.
bool finish_in_handler(const Guard& guard, Call& call, std::uint64_t now);

}  // namespace syscost::signal_safe
