// SPDX-License-Identifier: MIT
//
// The test frameworks that the agent knows. Each `hook_*` looks for its framework in `modules` and puts functions of
// ours where the framework calls its own; true where it found one. Before main(), one thread.
#pragma once

#include <span>

#include "agent/find/modules.h"

namespace syscost::agent {

bool hook_gtest(std::span<const Module> modules);
bool hook_catch2(std::span<const Module> modules);
bool hook_doctest(std::span<const Module> modules);

/// For what a test starts: it is not measured. The preload is for the programs that `bench run` starts, up to the first
/// that runs tests. Called when tests start and not before, because a main may execute itself again first.
void leave_children_alone();

/// Ends the program with 2, as an adapter does that cannot measure.
[[noreturn]] void refuse(const char* why, const char* remedy);

}  // namespace syscost::agent
