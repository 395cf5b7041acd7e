// SPDX-License-Identifier: MIT
//
// The room that the limits of the program leave: RLIMIT_AS and RLIMIT_DATA (ulimit -v, ulimit -d). What syscost
// reserves counts against them as the program's own memory does, used or not.
#pragma once

#include <cstddef>

namespace syscost {

/// How many bytes to reserve: `wanted`, or `least` where that would be more than a tenth of the room. Makes syscalls.
std::size_t fitting_reserve(std::size_t wanted, std::size_t least);

/// True if a thread of the usual size (ulimit -s) could not begin now for lack of room, and could, as far as is known,
/// without what is syscost's. Makes syscalls.
bool is_no_room_for_thread_because_of_us();

}  // namespace syscost
