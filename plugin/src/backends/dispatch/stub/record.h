// SPDX-License-Identifier: MIT
//
// Counting one call, by the thread that made it.
//
// A recording is announced in the thread's record (`open`: the place of its Call, with a number) and taken back at
// its end. So a reader knows whether a thread may still be writing to the bank it wants to read. A signal handler
// may interrupt a recording and make calls: these are announced in the outer one's place, and put that back.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/common/call.h"
#include "backends/dispatch/stub/file_kinds.h"

namespace syscost::signal_safe {

/// In an announcement, below the address.
inline constexpr unsigned kNumberBits = 16;

inline std::uint64_t to_ns(std::uint64_t ticks) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(ticks) * syscost_state.ns_per_tick) >> 32);
}

/// Counts a call that has returned `result` at time `now`, in the segment it entered if that still runs, else as a
/// crossing.
void record(const Guard& guard, const Call& call, std::uint64_t now);

/// The same of a call of which the kinds of files are known (file_kinds.h).
void record_with_kinds(const Guard& guard, const Call& call, std::uint64_t now, FileKinds kinds);

/// The number of the stack of a call that has not been made; 0 if stacks cannot be found (WhereState::is_ready), or
/// where a recording of the same thread was interrupted. Without --syscost_where it is slow: nothing is kept.
std::uint32_t stack_before_call(const Guard& guard, const Call& call);

/// The same of an rt_sigreturn, which never comes back: a call without error and latency. It was made at
/// `stack_pointer`, where `call` need not lie.
void record_return(const Guard& guard, const Call& call, std::uint64_t stack_pointer);

}  // namespace syscost::signal_safe
