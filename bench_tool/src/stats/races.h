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

/// True if `delta` is the number of a test's waits, or of those that failed with one errno, and NEW's lies beyond
/// OLD's.
bool is_shift_of_waits(const Comparison& row, const Delta& delta);

/// True where its threads waited more or less often, or where as many waits failed otherwise: a lock was taken before
/// the wait began (EAGAIN), or the time was over (ETIMEDOUT).
bool has_waited_otherwise(const Comparison& row);

/// How many waits more and fewer, of each syscall, added up without their signs.
double sum_of_shifts(const Comparison& row);

/// How many waits more in NEW; below 0: fewer.
double more_waits(const Comparison& row);

/// True for a test that is open to chance, if OLD has so few repetitions that they do not show what varies.
bool is_single_run_of_waits(const Comparison& row);

/// The classes of the syscall that changed.
std::string_view classes_of(const Comparison& row, const Delta& delta);

/// True if the load of the machine explains the change of `delta`: by calls that came too early or were interrupted,
/// or that threads make when they begin and end. Load has a direction.
bool follows_load(const Comparison& row, const Delta& delta);

/// Turns changes of `row` that are within such a test's own noise into `near`, and sets its verdict and reason. Leaves
/// tests that do not wait, and syscalls with a tolerance of 0 %, as they are.
void allow_for_races(const CountPolicy& policy, Comparison& row);

}  // namespace syscost::bench::stats
