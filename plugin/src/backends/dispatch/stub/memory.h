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
/// Leaves `thread` to others. The caller must not use it afterwards.
void give_thread_back(const Guard& guard, Thread& thread);

/// Zeroed, and never given back. Null when the arena is used up.
void* take_memory(const Guard& guard, std::uint64_t bytes);
/// The thread's account; the shared one when there is no memory for its own.
Account* account_of(const Guard& guard, Thread& thread);
/// Null when the arena is used up.
Cell* cell_of(const Guard& guard, Account& account, std::uint32_t bank, std::uint32_t slot);
std::uint64_t* errors_of(const Guard& guard, Account& account, std::uint32_t bank);

}  // namespace syscost::signal_safe
