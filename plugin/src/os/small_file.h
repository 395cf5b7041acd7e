// SPDX-License-Identifier: MIT
//
// Reading a small file whole, such as those of /proc.
#pragma once

#include <memory_resource>
#include <string>

namespace syscost {

/// The file's contents; empty when it cannot be read.
std::string read_small_file(const std::string& path);
/// The same in memory of the caller's choice.
std::pmr::string read_small_file(const char* path, std::pmr::memory_resource& memory);

}  // namespace syscost
