// SPDX-License-Identifier: MIT
//
// What we cannot see: loops and mains of a shared library that was linked without syscost::benchmark, and all callers
// of a Google Benchmark that was compiled for optimisation at link time.
//
// We cannot end the passes of such loops, so each would take seconds of counting to end without a count.
#pragma once

#include "syscost/cost.h"

namespace syscost::benchmark_adapter {

/// True when a loaded shared library runs benchmark loops and is not linked with us. False where that cannot be told.
bool may_have_unseen_loops();
/// When no hook has heard of the start of Google Benchmark: why not; null when it was not started.
const Unavailable* why_main_is_unseen();

}  // namespace syscost::benchmark_adapter
