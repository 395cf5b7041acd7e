// SPDX-License-Identifier: MIT
//
// Files that a library reads once in a process, when one of its threads first has to wait: how many processors there
// are, how fast they are. That decides how long a lock spins. Whether and in which test threads meet at a lock is
// chance.
#pragma once

#include <vector>

#include "stats/verdict.h"

namespace syscost::bench::stats {

/// Makes `near` what a test that waits for others, and waits otherwise in NEW, asks more to read one or two files. It
/// opened two at most in OLD, and each file more is missing, or is read by one call and closed. Does so where no more
/// tests of the program open a file more than lost one in this way, and one. Leaves syscalls that are to be told
/// exactly (a tolerance of 0 %).
void allow_for_first_waits(const CountPolicy& policy, std::vector<Comparison>& rows);

}  // namespace syscost::bench::stats
