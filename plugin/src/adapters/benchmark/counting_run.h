// SPDX-License-Identifier: MIT
//
// The run of benchmarks in the counting process.
#pragma once

#include <cstddef>
#include <string>

namespace syscost::benchmark_adapter {

/// Runs the benchmarks that `spec` selects, silently, and sends what they cost. Ends the process.
[[noreturn]] void run_counting(const std::string& spec);

/// The orders of a process that counts call number `call` (from 0) of RunSpecifiedBenchmarks(), when earlier ones
/// returned `answers`; and what they say to call number `call`.
std::string orders_for(std::size_t call, const std::string& answers);
bool is_call_to_count(const std::string& orders, std::size_t call);
std::size_t answer_of_call(const std::string& orders, std::size_t call);

}  // namespace syscost::benchmark_adapter
