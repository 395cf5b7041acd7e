// SPDX-License-Identifier: MIT
//
// How far a mistyped name is from one that exists: a refusal that names the flag that was meant is half a remedy.
#pragma once

#include <cstddef>
#include <string_view>

namespace syscost {

/// Edits (insert, delete, replace, swap neighbours) that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace syscost
