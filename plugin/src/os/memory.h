// SPDX-License-Identifier: MIT
//
// Memory of syscost: where it takes memory, and the limits of the program that this memory counts against.
//
// The heap is the program's. The memory that syscost takes must not change the counts of a test, and must not use up
// the room that the test needs. own_memory.h lists this memory for code that runs inside a call of the program.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <optional>

#include "os/errors.h"

namespace syscost {

// Memory that syscost can take without a syscall.
//
// The counts of a window are stored while other windows are open. malloc may call brk or mmap at any time, and that
// would be a syscall of ours in the user's window. So syscost reserves memory before the first window, hands it out
// inside windows, and adds to it between them. It reserves little at a time, because the user pays for it: RLIMIT_AS
// counts every byte, and mlockall() makes untouched pages real.

/// The process's one quiet pool. Thread-safe. It does not enter the kernel until the reserved memory is used up; then
/// it uses malloc, and the window counts malloc's syscalls. The first call reserves: make it between windows.
std::pmr::memory_resource& quiet_memory();

/// If more than half is in use, reserves 10 MiB at first, then as much again each time; 1 MiB if that is refused. Call
/// it between windows. Fails if the pool has no memory at all.
Result<void> top_up_quiet_memory();

/// True if less than an eighth of the reserved memory is left: code that can do without memory should not take any. Any
/// thread; no syscall.
bool is_quiet_memory_scarce();

// Memory for the work of syscost between windows: rows, names and lines of calls.
//
// A row that grows in the program's heap moves the heap's end, so the next test calls brk sooner or later. How much
// syscost writes depends on its flags, and with it the test's counts would.

/// Blocks of 64 KiB and more are mapped, and unmapped when they are freed; smaller ones are quiet_memory(). If nothing
/// can be mapped, these are, too. Thread-safe. Makes syscalls: between windows only.
std::pmr::memory_resource& mapped_memory();

// The room that the limits of the program leave: RLIMIT_AS and RLIMIT_DATA (ulimit -v, ulimit -d). The memory that
// syscost reserves counts against them as the program's own memory does, used or not.

/// How many bytes to reserve: `wanted`, or `least` where that would be more than a tenth of the room. Makes syscalls.
std::size_t fitting_reserve(std::size_t wanted, std::size_t least);

/// True if a thread of the usual size (ulimit -s) could not begin now for lack of room, and could, as far as is known,
/// without what is syscost's. Makes syscalls.
bool is_no_room_for_thread_because_of_us();

// The memory of this process that is syscost's: its libraries, and what it reserves.
//
// mlockall(MCL_CURRENT) fails if all that is mapped is more than RLIMIT_MEMLOCK, pages that are only reserved and
// libraries included. 8 MiB is a usual limit, and a program that stays below it alone may be above it with syscost. So
// each large stretch that syscost maps is noted here, and it is known how much the program has by itself.

/// The libraries with names that begin with "libsyscost". The first call looks for them, so make it outside windows.
void note_own_libraries();

/// Why mlockall(MCL_CURRENT) fails now if it fails only because of our memory.
std::optional<Failure> what_denies_mlockall();

}  // namespace syscost
