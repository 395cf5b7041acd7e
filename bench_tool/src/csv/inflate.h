// SPDX-License-Identifier: MIT
//
// Inflate: files that were packed by gzip, read as what is in them.
//
// Runs are kept for months, and packed they take a thirtieth. A packed file may also be cut short, be damaged, or have
// been made to unpack to more than any machine has; each ends in a message, and no more memory is taken than for a
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

/// What `packed` delivers, unpacked. Several packed files behind each other are one. It throws std::system_error where
/// `packed` does, and where the data are cut short, damaged, or unpack to too much.
ReadBytes inflated(ReadBytes packed);

}  // namespace syscost::bench::csv
