// SPDX-License-Identifier: MIT
//
// Inflate: unpacks files that gzip packed, while they are read.
//
// People keep runs for months, and packed ones take a thirtieth of the space. A packed file may be cut short, damaged,
// or made to unpack to more than any machine can hold. Each of these ends in a message. Reading takes the memory of one
// block.
#pragma once

#include <cstdint>
#include <string_view>

#include "csv/input.h"

namespace syscost::bench::csv {

/// Rows pack to a twentieth or a fiftieth. What unpacks to more than this many times its size, and to more than
/// kAnyUnpackedBytes, was made to fill memory.
inline constexpr std::uint64_t kMostTimesPacked = 200;
inline constexpr std::uint64_t kAnyUnpackedBytes = std::uint64_t{64} << 20;

/// True for the beginning of a file that gzip wrote.
bool is_gzip(std::string_view beginning);

/// Returns a reader that unpacks the bytes of `packed`. It reads several packed files in a row as one. It throws
/// std::system_error if `packed` does, and if the data are cut short, damaged, or unpack to too much.
ReadBytes inflated(ReadBytes packed);

}  // namespace syscost::bench::csv
