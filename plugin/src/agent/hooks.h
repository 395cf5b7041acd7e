// SPDX-License-Identifier: MIT
//
// The agent's work in a program that was not linked with syscost. `hook_gtest` looks for GoogleTest in `modules` and
// puts functions of ours where it calls its own; true where it found one. Before main(), one thread. (Catch2 and
// doctest have adapters that linked programs use as well: adapters/catch2, adapters/doctest.)
#pragma once

#include "agent/find/classes.h"

namespace syscost::agent {

bool hook_gtest(const Modules& modules, const char* program);
/// In a program of which a part is linked with syscost: if tests of another GoogleTest run, says that they have no
/// rows. `program`: argv[0].
void watch_unlinked_gtest(const Modules& modules, const char* program);
/// The same for Google Benchmark. `argc`, `argv`: of main().
bool hook_benchmark(const Modules& modules, int argc, char** argv);

/// Ends the program with 2, as an adapter does that cannot measure.
[[noreturn]] void refuse(const char* why, const char* remedy);

}  // namespace syscost::agent
