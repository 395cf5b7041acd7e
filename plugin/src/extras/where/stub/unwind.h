// SPDX-License-Identifier: MIT
//
// Unwinding: from the registers of a call to its callers, by the rules of cfi.h.
//
// Runs inside the user's calls: no syscall, no lock, no memory but what the Walker has. (One exception: whether a
// stack that is not the thread's own can be read, only the kernel knows. The answer is kept for each page.)
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/common/call.h"
#include "extras/where/stub/common/where.h"

namespace syscost::signal_safe {

/// The program's registers right after the `syscall`.
struct WalkStart {
  std::uint64_t ip;
  std::uint64_t sp;
  std::uint64_t rbp;
  std::uint64_t rdi;
  bool is_clone;  ///< libc says nothing about its callers there: they are where a call of a function puts them.
};

/// Fills walker.walk with the stack of `start`, a call of `thread`. Runs on the walker's stack: it may call a function
/// of the loader, which saves nothing.
void unwind(const Guard& guard, const Thread& thread, Walker& walker, const WalkStart& start);

/// Memory for stacks and places; zeroed, and never given back. Null when it is used up.
void* take_where_memory(std::uint64_t bytes);

/// The stack pointer that the stub had when the thread went on to a walker's stack; `stack_pointer` itself elsewhere.
std::uint64_t stack_pointer_outside(std::uint64_t stack_pointer);

}  // namespace syscost::signal_safe
