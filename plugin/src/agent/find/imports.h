// SPDX-License-Identifier: MIT
//
// Where a module keeps the addresses of functions that it takes from other modules: the tables that the loader fills
// in.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/find/modules.h"

namespace syscost::agent {

/// The words of `module` that hold the address of the function `name`, or of the code that looks it up at its first
/// call.
std::vector<std::uintptr_t*> import_slots(const Module& module, const char* name);

}  // namespace syscost::agent
