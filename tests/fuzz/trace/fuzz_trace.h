// SPDX-License-Identifier: MIT
//
// The function that the fuzzer and its corpus test run: any bytes through the reader of traces and all formats.
#pragma once

#include <cstddef>
#include <cstdint>

namespace syscost::bench::fuzz {

/// Reads `data` as a trace.pftrace and prints it. Aborts if an invariant breaks: a text that is no part of the file, a
/// damaged file without a word.
void read_any_trace(const std::uint8_t* data, std::size_t size);

}  // namespace syscost::bench::fuzz
