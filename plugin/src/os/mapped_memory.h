// SPDX-License-Identifier: MIT
//
// Memory for what syscost does between windows: rows, names and lines of calls.
//
// The heap is the program's. A row that grows in it moves the heap's end, so the next test calls brk sooner or later.
// How much syscost writes depends on its flags, and with it the test's counts would.
#pragma once

#include <memory_resource>

namespace syscost {

/// Blocks of 64 KiB and more are mapped, and unmapped when they are freed; smaller ones are quiet memory
/// (quiet_memory.h). If nothing can be mapped, these are, too. Thread-safe. Makes syscalls: between windows only.
std::pmr::memory_resource& mapped_memory();

}  // namespace syscost
