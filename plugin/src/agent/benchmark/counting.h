// SPDX-License-Identifier: MIT
//
// The process that counts: it runs the program's benchmarks, prints nothing, and sends the counts of each. It stands
// before the function of each benchmark, and before the functions by which a loop begins and ends.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "agent/find/classes.h"
#include "agent/find/modules.h"

namespace syscost::agent::benchmark {

// The loops of benchmarks in a program that was not compiled with us.
//
// Each benchmark is a class with a function Run(State&), which ours stands before. The loop in it begins and ends where
// Google Benchmark's ThreadTimer starts and stops: it reads the processor's time of the thread, as its last act before
// the loop and as its first act after it. So our function stands before the program's clock_gettime() as well. The
// timer's switch, which it turns before it reads, tells its reads from the program's own.
//
// In the process that times, none of these functions stands anywhere.

/// Puts our functions before those of the program. False where there are no benchmarks, or their clock is not found.
/// `wants`: whether the benchmark that runs now is to be counted. Any thread.
bool hook_loops(const Modules& modules, const std::function<bool(const void* benchmark)>& wants);

}  // namespace syscost::agent::benchmark

namespace syscost::agent {

/// The words of `module` that hold the address of the function `name`, or of the code that looks it up at its first
/// call: they are in the tables that the loader fills in, of functions that the module takes from other modules.
std::vector<std::uintptr_t*> import_slots(const Module& module, const char* name);

}  // namespace syscost::agent
