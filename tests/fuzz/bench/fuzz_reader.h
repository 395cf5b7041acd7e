// SPDX-License-Identifier: MIT
//
// The function that the fuzzer and its corpus test run: any bytes through reader, model, summary and compare.
#pragma once

#include <cstddef>
#include <cstdint>

namespace syscost::bench::fuzz {

/// Reads `data` as a CSV and works with the result. Aborts if an invariant breaks: a file compared with itself
/// changed, a line was dropped without a word.
void read_any_bytes(const std::uint8_t* data, std::size_t size);

}  // namespace syscost::bench::fuzz
