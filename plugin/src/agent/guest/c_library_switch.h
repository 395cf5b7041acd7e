// SPDX-License-Identifier: MIT
//
// The way between the program's world and the guest's (agent/common/two_c_libraries.h).
//
// A signal that came while a thread is in the guest's world would run the program's handler with the guest's errno and
// thread-local variables. So signals are blocked there. The two calls for that must not be counted as the program's:
// the word that arms the window is 0 meanwhile.
#pragma once

#include <cstdint>

namespace syscost::guest {

/// Before anything else: the calling thread is in the guest's world, where it will be whenever it enters.
void settle();
/// The fs register of a program that has not run an instruction yet.
void clear_thread_pointer();

/// Makes functions that can be put into the program (agent::Worlds).
std::uintptr_t entrance(std::uintptr_t function);
std::uintptr_t entrance_before(std::uintptr_t seen, std::uintptr_t original);
/// Leaves the guest's world, calls, and comes back.
void call_program(std::uintptr_t function, std::uintptr_t first, std::uintptr_t second, std::uintptr_t third);

}  // namespace syscost::guest
