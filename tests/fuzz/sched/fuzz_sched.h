// SPDX-License-Identifier: MIT
//
// The function that the fuzzer and its corpus test run: any bytes through the reader of sched.csv, the walk and all
// formats.
#pragma once

#include <cstddef>
#include <cstdint>

namespace syscost::bench::fuzz {

/// Reads `data` as a sched.csv and prints its critical path. Aborts if an invariant breaks: steps that do not fill the
/// wall time exactly once, a damaged file without a word.
void read_any_sched(const std::uint8_t* data, std::size_t size);

}  // namespace syscost::bench::fuzz
