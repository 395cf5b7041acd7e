// SPDX-License-Identifier: MIT
//
// Windows around the tests of doctest, wherever it was compiled.
#pragma once

#include "agent/find/classes.h"

namespace syscost::doctest_adapter {

/// Looks for doctest in `modules` and puts functions of ours where it calls its own; true where it was found. Before
/// main(), one thread.
bool hook(const agent::Modules& modules);

}  // namespace syscost::doctest_adapter
