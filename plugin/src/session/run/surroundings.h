// SPDX-License-Identifier: MIT
//
// Surroundings: libc, processors, limits, locale, ...: parts of the environment that may change a program's counts.
//
// Two runs are rarely from one machine and one shell. If their counts differ, the reader must know what else differs
// besides the code. So each program's run has one row with its surroundings (docs/csv-format.md).
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

/// Which part of the tests this process runs: "2 of 4" for GTEST_SHARD_INDEX=1 and GTEST_TOTAL_SHARDS=4 of GoogleTest,
/// and for `--shard-index 1 --shard-count 4` of Catch2 in `arguments`. "" for another framework, and without shards.
std::string shard_of(std::string_view framework, const std::vector<std::string>& arguments);

/// `name=value;name=value`. A value's own semicolons are commas; a long one is cut, and its length added.
std::string to_text(const Surroundings& surroundings);

/// The file names in an LD_PRELOAD: "a.so:b.so" for "/x/a.so /y/b.so".
std::string file_names_of(std::string_view libraries);

/// "4 KiB" for 2049 to 4096 bytes: the size of the environment differs from shell to shell, and single bytes do not
/// matter.
std::string size_class(std::uint64_t bytes);

/// How many folders lie between the root and the absolute path `folder`: 0 for "/", 2 for "/a/b".
std::uint64_t depth_of(const std::string& folder);

}  // namespace syscost::session
