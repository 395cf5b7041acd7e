// SPDX-License-Identifier: MIT
//
// Memory that can be had without a syscall.
//
// What a window counts is kept while other windows are open, and malloc may call brk or mmap at any time: a syscall of
// ours in the user's window. So this memory is reserved once, before the first window, and handed out from there.
// Untouched pages cost address space only.
#pragma once

#include <memory_resource>

namespace syscost {

/// The process's one quiet pool. Thread-safe, never enters the kernel until 256 MiB are in use (then malloc serves, and
/// its syscalls are the window's). The first call reserves the memory, with one mmap: make it between windows.
std::pmr::memory_resource& quiet_memory();

}  // namespace syscost
