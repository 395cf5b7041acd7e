// SPDX-License-Identifier: MIT
//
// How linking alone is enough for frameworks that are found in the program itself: their classes are searched before
// main(), and only where something is asked of syscost. So these adapters include no header of the framework, and work
// with each of its versions, also where the program compiles it from one header of its own.
#pragma once

#include "agent/find/classes.h"
#include "syscost/cost.h"

namespace syscost::bodies_adapter {

/// Calls `hook` before main(), if something is asked or the program uses faults. If something is asked and nothing is
/// found, ends the program with 2 and `why_not`.
void hook_if_asked(bool (*hook)(const agent::Modules& modules), const Unavailable& why_not);

}  // namespace syscost::bodies_adapter
