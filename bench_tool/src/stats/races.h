// SPDX-License-Identifier: MIT
//
// Tests whose threads, or other processes, run in another order each time. They wait for each other: they make blocking
// calls (%wait) that are volatile (futex, a poll, a sleep in a loop). What such a test asks for may differ with the
// order, a background thread that is late for one: many of its counts change a little, together. One more call there
// proves nothing.
#pragma once

#include <string_view>

#include "stats/verdict.h"

namespace syscost::bench::stats {

/// A blocking call that some thread of the test makes; null where none does. Not null for a paired row alone.
const SyscallSummary* find_wait(const Comparison& row);

/// True where such a test is to be judged with its noise: nothing else is wrong with it, and it is no loop.
bool is_open_to_chance(const Comparison& row);

/// True where its threads waited more or less often than in each repetition of OLD.
bool waits_differ(const Comparison& row);

/// The classes of the syscall that changed.
std::string_view classes_of(const Comparison& row, const Delta& delta);

/// True where the count of `delta` grew (shrank) by no more than the load of the machine makes of it: by calls that
/// came too early or were interrupted, or that threads make when they begin and end. Load has a direction.
bool follows_load(const Comparison& row, const Delta& delta);

/// Calms what changed in `row` by no more than such a test's own noise, and sets its verdict and reason. Does nothing
/// where the test does not wait, and to syscalls that are to be told exactly (a tolerance of 0 %).
void allow_for_races(const CountPolicy& policy, Comparison& row);

}  // namespace syscost::bench::stats
