// SPDX-License-Identifier: MIT
//
// Surroundings: libc, processors, limits, locale, ...: they are not the program, and may change its counts.
//
// Two runs are rarely from one machine and one shell. If counts differ, the reader must know what differs besides the
// code. So each program's run says it once, in a row of its own (docs/csv-format.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace syscost::session {

/// Names, which are part of the CSV's format, and values. A name without a known value is left out.
using Surroundings = std::vector<std::pair<std::string, std::string>>;

/// Reads them now. Makes a few syscalls.
Surroundings read_surroundings();

/// `name=value;name=value`. A value's own semicolons are commas; a long one is cut, and its length added.
std::string to_text(const Surroundings& surroundings);

/// The file names in an LD_PRELOAD: "a.so:b.so" for "/x/a.so /y/b.so".
std::string without_folders(std::string_view libraries);

/// "4 KiB" for everything from 2049 to 4096 bytes: an environment has another size in each shell, and a byte more means
/// nothing.
std::string size_class(std::uint64_t bytes);

/// How many folders lie between the root and the absolute path `folder`: 0 for "/", 2 for "/a/b".
std::uint64_t depth_of(const std::string& folder);

}  // namespace syscost::session
