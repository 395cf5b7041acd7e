// SPDX-License-Identifier: MIT
//
// Words for calls: what a test does, as a person says it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace syscost::bench::groups {

/// `open, read, close files; look up paths` of the names of syscalls, in any order. Names that have no word stand as
/// they are, if there is nothing else to say. At most some 60 characters.
std::string words_of(std::span<const std::string_view> syscalls);

}  // namespace syscost::bench::groups
