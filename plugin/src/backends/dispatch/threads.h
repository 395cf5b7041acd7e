// SPDX-License-Identifier: MIT
//
// The threads of this process, as /proc shows them: those that dispatch cannot see must be told from the others.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <vector>

namespace syscost::dispatch {

/// All of them, also those that are ending and the kernel's workers; 0 where there is no /proc.
std::size_t count_threads();

/// Those that may make calls, in ascending order: not ending, not io_uring's.
std::vector<pid_t> calling_threads();

}  // namespace syscost::dispatch
