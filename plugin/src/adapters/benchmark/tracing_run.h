// SPDX-License-Identifier: MIT
//
// The run of benchmarks in the process that tools beside us observe.
//
//     start BACKEND NOTE | unavailable REASON FIX      once
//     name NAME                                        for each benchmark that will run, in order
//     listed
//     running POSITION                                 a benchmark begins, from 0
//     traced ITERATIONS NAME TEXT                      it had a traced pass; TEXT is of adapter::detach_tools()
//     untraced NAME REASON                             it had none
#pragma once

#include <string>

namespace syscost::benchmark_adapter {

/// Runs the benchmarks that `spec` selects twice, silently: to find the length of a pass, and for the tools. Ends the
/// process.
[[noreturn]] void run_tracing(const std::string& spec);

}  // namespace syscost::benchmark_adapter
