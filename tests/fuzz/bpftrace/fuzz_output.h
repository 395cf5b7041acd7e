// SPDX-License-Identifier: MIT
//
// The function that the fuzzer of bpftrace's output and its corpus test run: any bytes through the parser, the figures,
// JSON and the summary.
#pragma once

#include <cstddef>
#include <cstdint>

namespace syscost::profilers::fuzz {

/// Reads `data` as the output of bpftrace and works with the result. Aborts if an invariant breaks: an entry was
/// dropped, what follows a whole text changed how it is read, a histogram's counts do not add up.
void read_any_output(const std::uint8_t* data, std::size_t size);

}  // namespace syscost::profilers::fuzz
