// SPDX-License-Identifier: MIT
//
// Loops that the hooks do not see: loops and mains of a shared library that was linked without syscost::benchmark, and
// all callers of a Google Benchmark that was compiled for optimisation at link time.
//
// We cannot stop the passes of such loops, so each would take seconds and end without a count.
#pragma once

#include "syscost/cost.h"

namespace syscost::benchmark_adapter {

/// True if a loaded shared library runs benchmark loops and is not linked with us. False if that is unknown.
bool may_have_unseen_loops();
/// If no hook saw the start of Google Benchmark: the reason. Null if it was not started.
const Unavailable* why_main_is_unseen();

}  // namespace syscost::benchmark_adapter
