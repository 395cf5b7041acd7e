// SPDX-License-Identifier: MIT
//
// The memory of this process that is syscost's: its libraries, and what it reserves.
//
// mlockall(MCL_CURRENT) fails if all that is mapped is more than RLIMIT_MEMLOCK, pages that are only reserved and
// libraries included. 8 MiB is a usual limit, and a program that stays below it alone may be above it with syscost. So
// each large stretch that syscost maps is noted here, and it is known how much the program has by itself.
#pragma once

#include <cstddef>
#include <optional>

#include "os/result.h"

namespace syscost {

/// The libraries whose names begin with "libsyscost". Only the first call looks; not inside a window.
void note_own_libraries();

/// Why mlockall(MCL_CURRENT) fails now if it fails only because of our memory.
std::optional<Failure> what_forbids_mlockall();

}  // namespace syscost
