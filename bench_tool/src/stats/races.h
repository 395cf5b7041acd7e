// SPDX-License-Identifier: MIT
//
// Tests with threads or processes that run in another order each time. These wait for each other: they make blocking
// calls (%wait) that are volatile (futex, a poll, a sleep in a loop). The syscalls of such a test may depend on the
// order. If a background thread is late, for example, many counts change a little, together. One more call in such a
// test proves nothing.
#pragma once

#include <string_view>

#include "stats/verdict.h"

namespace syscost::bench::stats {

/// A blocking call of the test that is volatile. Null if it makes none, and for a row without a partner.
const SyscallSummary* find_wait(const Comparison& row);

/// True if the row is such a test, nothing else is wrong with it, and it is no loop: then its noise is allowed for.
bool is_open_to_chance(const Comparison& row);

/// True where its threads waited more or less often than in each repetition of OLD.
bool waits_differ(const Comparison& row);

/// The classes of the syscall that changed.
std::string_view classes_of(const Comparison& row, const Delta& delta);

/// True if the load of the machine explains the change of `delta`: by calls that came too early or were interrupted,
/// or that threads make when they begin and end. Load has a direction.
bool follows_load(const Comparison& row, const Delta& delta);

/// Turns changes of `row` that are within such a test's own noise into `near`, and sets its verdict and reason. Leaves
/// tests that do not wait, and syscalls with a tolerance of 0 %, as they are.
void allow_for_races(const CountPolicy& policy, Comparison& row);

}  // namespace syscost::bench::stats
