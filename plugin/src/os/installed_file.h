// SPDX-License-Identifier: MIT
//
// Finds the files that belong to libsyscost.so, relative to the library's own folder.
//
// The dynamic linker reports where the library was loaded from. So an installed tree may be moved, and the build tree,
// which has the same layout, works without installing.
#pragma once

#include <array>
#include <climits>
#include <string>
#include <string_view>

namespace syscost {

/// The absolute path of a file or folder. Both names are relative to the library's folder: in an installation (CMake
/// knows how many folders up the prefix is) and in a build tree. Empty if neither exists.
std::string find_installed(std::string_view installed, std::string_view built);

/// A path that takes no memory of the heap.
using PathBuffer = std::array<char, PATH_MAX>;
/// The same, into `path`, which begins with a NUL if neither exists.
void find_installed(std::string_view installed, std::string_view built, PathBuffer& path);

/// The absolute path of `installed`, whether or not it exists; for messages.
std::string expected_installed_path(std::string_view installed);

}  // namespace syscost
