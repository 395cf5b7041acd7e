// SPDX-License-Identifier: MIT
//
// Our own calls in a child of the measured process, which a backend that counts children must leave out: what fork
// children do to give up our descriptors, and the processes that become our tools.
#pragma once

#include <cstdint>

namespace syscost {

/// From here on, until end_own_calls() or execve(), what the calling thread calls is not counted as a child's, nor is
/// whom it starts. In a child only; one system call where a backend counts children in this way, else none.
/// Signal-safe, but for errno.
void begin_own_calls();
void end_own_calls();

/// By a backend: the two say gettid(cookie, 1) and gettid(cookie, 0); 0 = they say nothing.
void tell_own_calls_by(std::uint64_t cookie);

}  // namespace syscost
