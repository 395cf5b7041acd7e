// SPDX-License-Identifier: MIT
//
// The memory that counts live in: one arena, reserved when the backend opens, handed out by adding to a number.
//
// Nothing is given back: a thread that ends leaves its record and account to the next one, counts included.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/call.h"

namespace syscost::signal_safe {

/// A record for the calling thread, or null when kThreads are in use. Its lane is the process's.
Thread* take_thread(const Guard& guard);
/// The same for a thread that was made in opening `born` (state.h, Life), and may begin to run only after the next.
Thread* take_thread(const Guard& guard, std::uint32_t born);
/// Before a record is given back: its thread ends in this opening (state.h, Life).
void note_end(const Thread& thread);
/// Leaves `thread` to others. The caller must not use it afterwards.
void give_thread_back(const Guard& guard, Thread& thread);

/// Zeroed, and never given back. Null when the arena is used up.
void* take_memory(const Guard& guard, std::uint64_t bytes);
/// The thread's account; the shared one when there is no memory for its own.
Account* account_of(const Guard& guard, Thread& thread);
/// Null when the arena is used up.
Cell* cell_of(const Guard& guard, Account& account, std::uint32_t bank, std::uint32_t slot);
std::uint64_t* errors_of(const Guard& guard, Account& account, std::uint32_t bank);

/// The program locks all of its memory, and the kernel would fill, lock and limit (RLIMIT_MEMLOCK) what is only
/// reserved. From now on the arenas are as small as where RLIMIT_AS allows no more.
void give_unused_memory_back(const Guard& guard);

/// What is reserved in any case: of the arena of counts, and of that of call stacks.
inline constexpr std::uint64_t kSmallArenaBytes = std::uint64_t{4} << 20;
inline constexpr std::uint64_t kSmallStackArenaBytes = std::uint64_t{8} << 20;

}  // namespace syscost::signal_safe
