// SPDX-License-Identifier: MIT
//
// Finds scripts by name: first in the user's folders, then among those that syscost ships.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "extras/profilers/profiler.h"
#include "os/errors.h"

namespace syscost::profilers {

/// A script that was found, and its text.
struct Script {
  ScriptInfo info;
  std::string source;
};

/// Finds the script `name`. Fails for an unknown name, with the nearest known one, and for a script that it cannot
/// read.
Result<Script> find_script(const ProfilerOptions& options, std::string_view name);

}  // namespace syscost::profilers
