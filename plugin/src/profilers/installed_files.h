// SPDX-License-Identifier: MIT
//
// Where the launcher and the shipped scripts lie: beside libsyscost.so, wherever that was put.
//
// The library asks the dynamic linker where it was loaded from and goes on from there, so that an installed tree may be
// moved, and the build tree, which is laid out alike, works without installing.
#pragma once

#include <string>

#include "os/result.h"

namespace syscost::profilers {

/// Absolute path of the executable. Fails when it is not there.
Result<std::string> find_launcher();

/// Absolute path of the folder with the shipped scripts; empty when there is none.
std::string shipped_scripts_folder();

}  // namespace syscost::profilers
