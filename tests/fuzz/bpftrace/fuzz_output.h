// SPDX-License-Identifier: MIT
//
// What the fuzzer of bpftrace's output and its corpus test run: any bytes through the parser, the figures, JSON and the
// summary.
#pragma once

#include <cstddef>
#include <cstdint>

namespace syscost::profilers::fuzz {

/// Reads `data` as what bpftrace printed and works with what was read. Aborts when an invariant breaks: an entry was
/// dropped, what follows a whole text changed how it is read, a histogram's counts do not add up.
void read_any_output(const std::uint8_t* data, std::size_t size);

}  // namespace syscost::profilers::fuzz
