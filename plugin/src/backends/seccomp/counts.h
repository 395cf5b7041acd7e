// SPDX-License-Identifier: MIT
//
// Reads what the supervisor counted, and clears it for the next segment. Memory accesses only; callers hold the window
// book's lock.
#pragma once

#include <cstdint>

#include "backends/seccomp/shared.h"
#include "core/filter.h"
#include "core/tally.h"

namespace syscost::seccomp {

/// Waits until the supervisor has counted the call that it is at, for about a tenth of a second at most. Returns false
/// if it has not: then this call may still be counted into a bank that has ended.
[[nodiscard]] bool wait_for_supervisor(const Shared& shared);

/// Adds the entries in `bank` that `filter` selects (null = all) to `into`, and clears it. `makers`: those of the bank;
/// null: it has none.
void take(Bank& bank, Makers* makers, const Filter* filter, CallTable& into);

/// True if calls were counted into `bank` since it was cleared.
bool is_touched(const Bank& bank);

/// Clears calls that were counted too late. They were reported when the bank was read.
void clear(Bank& bank, Makers* makers);

}  // namespace syscost::seccomp
