// SPDX-License-Identifier: MIT
//
// Finds the launcher and the shipped scripts. They lie beside libsyscost.so, wherever that is installed.
//
// The dynamic linker says where the library was loaded from. So you may move an installed tree; and the build tree
// works without installing, because it has the same layout.
#pragma once

#include <string>

#include "os/result.h"

namespace syscost::profilers {

/// Absolute path of the executable. Fails if it does not exist.
Result<std::string> find_launcher();

/// Absolute path of the folder with the shipped scripts; empty if there is none.
std::string shipped_scripts_folder();

}  // namespace syscost::profilers
