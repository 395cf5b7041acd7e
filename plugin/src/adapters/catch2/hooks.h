// SPDX-License-Identifier: MIT
//
// Windows around the tests of Catch2, wherever it was compiled.
#pragma once

#include "agent/find/classes.h"

namespace syscost::catch2_adapter {

/// Looks for Catch2 in `modules` and puts functions of ours where it calls its own; true where it was found. Before
/// main(), one thread.
bool hook(const agent::Modules& modules);

}  // namespace syscost::catch2_adapter
