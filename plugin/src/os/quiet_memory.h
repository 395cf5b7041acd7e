// SPDX-License-Identifier: MIT
//
// Memory that can be had without a syscall.
//
// What a window counts is kept while other windows are open, and malloc may call brk or mmap at any time: a syscall of
// ours in the user's window. So some memory is reserved before the first window, handed out inside windows, and added
// to between them. Little at a time, because reserving is not free for the user: under RLIMIT_AS every byte counts, and
// mlockall() makes the untouched pages real.
#pragma once

#include <memory_resource>

#include "os/result.h"

namespace syscost {

/// The process's one quiet pool. Thread-safe, never enters the kernel while what top_up_quiet_memory() reserved lasts;
/// then malloc serves, and its syscalls are the window's. The first call reserves: make it between windows.
std::pmr::memory_resource& quiet_memory();

/// Reserves more when more than half is in use: 8 MiB at first, then as much again each time; 1 MiB where that cannot
/// be had. To be called between windows. Fails when the pool has nothing at all.
Result<void> top_up_quiet_memory();

/// True when less than an eighth of what was reserved is left: code that can do without memory should not take any. Any
/// thread, no syscall.
bool is_quiet_memory_scarce();

}  // namespace syscost
