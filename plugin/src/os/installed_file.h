// SPDX-License-Identifier: MIT
//
// Where what belongs to libsyscost.so lies: beside it, wherever that was put.
//
// The library asks the dynamic linker where it was loaded from and goes on from there, so that an installed tree may be
// moved, and the build tree, which is laid out alike, works without installing.
#pragma once

#include <string>
#include <string_view>

namespace syscost {

/// Absolute path of a file or folder named from the library's folder, as installed (CMake says how many folders up the
/// prefix is) or as built; empty when there is neither.
std::string find_installed(std::string_view installed, std::string_view built);

/// Where the installed one would be, for messages.
std::string installed_place(std::string_view installed);

}  // namespace syscost
