// SPDX-License-Identifier: MIT
//
// What is out of our sight: loops and mains of a shared library that was linked without syscost::benchmark.
//
// Nobody ends the passes of such loops, so each would take seconds of counting to end without a count.
#pragma once

namespace syscost::benchmark_adapter {

/// True when a loaded shared library runs benchmark loops and is not linked with us. False where that cannot be told.
bool may_have_unseen_loops();
/// The same of one that starts Google Benchmark: its main(), or runs of benchmarks.
bool may_have_unseen_main();

}  // namespace syscost::benchmark_adapter
