// SPDX-License-Identifier: MIT
//
// Reading a small file whole, such as those of /proc.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <string>

namespace syscost {

/// More than any file of /proc has: the arguments and variables of a process are at most 6 MiB.
inline constexpr std::size_t kMostOfProc = std::size_t{8} << 20;
/// For files that someone else may have written.
inline constexpr std::size_t kMostOfSmallFile = std::size_t{64} << 10;

/// The file's contents; empty when it cannot be read, is no regular file, or has more than `most` bytes.
std::string read_small_file(const std::string& path, std::size_t most = kMostOfProc);
/// The same in memory of the caller's choice.
std::pmr::string read_small_file(const char* path, std::pmr::memory_resource& memory, std::size_t most = kMostOfProc);

}  // namespace syscost
