// SPDX-License-Identifier: MIT
//
// Google Benchmark's flags. It has no function that reads them, so we read the arguments that its Initialize() gets.
// Initialize() may be called again, and this sets them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace syscost::benchmark_adapter {

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

}  // namespace syscost::benchmark_adapter
