// SPDX-License-Identifier: MIT
//
// Hooks before functions of Google Benchmark, by the linker option `--wrap`; the flags that its Initialize() gets;
// and the loops that no hook sees.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "syscost/cost.h"

namespace syscost::benchmark_adapter {

// The names under which the hooks call Google Benchmark's own functions.
//
// The linker option `--wrap` makes each object of the program call __wrap_FUNCTION (hooks.cc) instead of FUNCTION.
// __real_FUNCTION is the library's own function. The user's code does not change, and each main works, also the main of
// libbenchmark_main.a. A shared library that was linked without this option calls FUNCTION, and the hooks miss that.

std::size_t real_run(::benchmark::BenchmarkReporter* display, ::benchmark::BenchmarkReporter* file, std::string spec);
void real_initialize(int* argc, char** argv);

// Google Benchmark's flags. It has no function that reads them, so we read the arguments that its Initialize() gets.
// Initialize() may be called again, and this sets them.

/// Remembers the flags of a command line that goes to benchmark::Initialize().
void note_flags(int argc, char** argv);

/// The value of --benchmark_NAME: of the last command line that had it, else of the variable BENCHMARK_NAME; or empty.
std::string flag_value(const std::string& name);

/// --benchmark_list_tests.
bool is_listing();
/// --benchmark_enable_random_interleaving.
bool is_interleaving();
/// --benchmark_repetitions, at least 1.
std::int64_t asked_repetitions();

/// Gives `flags` to benchmark::Initialize().
void set_flags(const std::vector<std::string>& flags);

// A shared library that was linked without syscost::benchmark has loops and mains that the hooks do not see. The hooks
// see no caller of a Google Benchmark that was compiled for optimisation at link time.
//
// We cannot stop the passes of such loops, so each would take seconds and end without a count.

/// True if a loaded shared library runs benchmark loops and is not linked with us. False if that is unknown.
bool may_have_unseen_loops();
/// If no hook saw the start of Google Benchmark: the reason. Null if it was not started.
const Unavailable* why_main_is_unseen();

}  // namespace syscost::benchmark_adapter
