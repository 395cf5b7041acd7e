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

/// Returns once no call is being counted that was when this was called, or after about a tenth of a second: then false,
/// and one call may still be counted into a bank that has ended.
[[nodiscard]] bool wait_for_supervisor(const Shared& shared);

/// Adds the entries in `bank` that `filter` selects (null = all) to `into`, and clears it.
void take(Bank& bank, const Filter* filter, CallTable& into);

/// True when something was counted into it since it was cleared.
bool is_touched(const Bank& bank);

/// Clears what a straggler left. It was reported when the bank was read.
void clear(Bank& bank);

}  // namespace syscost::seccomp
