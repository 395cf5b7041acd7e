// SPDX-License-Identifier: MIT
//
// Reading a small file whole, such as those of /proc.
#pragma once

#include <string>

namespace syscost {

/// The file's contents; empty when it cannot be read.
std::string read_small_file(const std::string& path);

}  // namespace syscost
