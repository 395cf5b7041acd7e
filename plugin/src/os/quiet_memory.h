// SPDX-License-Identifier: MIT
//
// Memory that syscost can take without a syscall.
//
// The counts of a window are stored while other windows are open. malloc may call brk or mmap at any time, and that
// would be a syscall of ours in the user's window. So syscost reserves memory before the first window, hands it out
// inside windows, and adds to it between them. It reserves little at a time, because the user pays for it: RLIMIT_AS
// counts every byte, and mlockall() makes untouched pages real.
#pragma once

#include <memory_resource>

#include "os/result.h"

namespace syscost {

/// The process's one quiet pool. Thread-safe. It does not enter the kernel until the reserved memory is used up; then
/// it uses malloc, and the window counts malloc's syscalls. The first call reserves: make it between windows.
std::pmr::memory_resource& quiet_memory();

/// If more than half is in use, reserves 10 MiB at first, then as much again each time; 1 MiB if that is refused. Call
/// it between windows. Fails if the pool has no memory at all.
Result<void> top_up_quiet_memory();

/// True if less than an eighth of the reserved memory is left: code that can do without memory should not take any. Any
/// thread; no syscall.
bool is_quiet_memory_scarce();

}  // namespace syscost
