// SPDX-License-Identifier: MIT
//
// Loops out of our sight: those of a shared library that was linked without syscost::benchmark.
//
// Nobody ends their passes, so each would take seconds of counting to end without a count.
#pragma once

namespace syscost::benchmark_adapter {

/// True when a loaded shared library runs benchmark loops and is not linked with us. False where that cannot be told.
bool may_have_unseen_loops();

}  // namespace syscost::benchmark_adapter
