// SPDX-License-Identifier: MIT
//
// Which stack opened a descriptor, or started a thread or a child process, for --syscost_leaks with --syscost_where.
//
// A table by the descriptor's number holds the stack of the call that opened it last. A call that closes the descriptor
// takes the stack out. So a descriptor that arrived in another way, for example in a message, has none. A list has the
// ids of threads and children; an id that the kernel gives again is found in its newest place.
#pragma once

#include "backends/dispatch/stub/call.h"
#include "backends/dispatch/stub/where.h"

namespace syscost::signal_safe {

/// After a call that succeeded; `stack` is its stack, 0 = unknown.
void note_descriptors(const Call& call, std::uint32_t stack);

/// The same, if anything is to be noted.
__attribute__((always_inline)) inline void note_openers(const Call& call, std::uint32_t stack) {
  if (syscost_where_state.openers != nullptr) [[unlikely]]
    note_descriptors(call, stack);
}

}  // namespace syscost::signal_safe
