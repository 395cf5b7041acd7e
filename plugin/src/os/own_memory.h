// SPDX-License-Identifier: MIT
//
// The stretches of memory that are syscost's, and mlockall() without them (os/memory.h says why).
#pragma once

#include <cstddef>
#include <cstdint>

namespace syscost {

/// Makes a syscall; -errno on failure.
using RawCall = long (*)(long number, long a, long b, long c, long d, long e, long f);

/// `bytes` from `start` on are ours, until they are unmapped and forgotten. Any thread; no syscall.
void note_own_mapping(const void* start, std::size_t bytes);
void forget_own_mapping(const void* start);

/// In bytes.
struct MemorySizes {
  std::uint64_t of_program = 0;
  std::uint64_t ours = 0;
  std::uint64_t limit = 0;  ///< RLIMIT_MEMLOCK.
};

/// False if that cannot be read.
bool measure_memory(RawCall call, MemorySizes& sizes);

/// Locks the program's memory as mlockall(flags) does, which has just failed with ENOMEM, and leaves out ours. Returns
/// 0, or -ENOMEM if the program's memory alone is too much. Async-signal-safe: it runs inside the program's call.
long lock_all_but_ours(unsigned long flags, RawCall call);

}  // namespace syscost
