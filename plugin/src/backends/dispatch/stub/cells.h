// SPDX-License-Identifier: MIT
//
// The cells that calls are counted in: which slot a call has in the directory, which bucket a latency has, and how a
// count changes. Each change is one instruction, so a signal handler that interrupts it loses nothing.
#pragma once

#include <atomic>
#include <cstdint>

#include "backends/dispatch/stub/common/call.h"
#include "backends/dispatch/stub/common/state.h"
#include "backends/dispatch/stub/file_kinds.h"

namespace syscost::signal_safe {

/// The log-linear bucket of a latency. The same function as histogram_bucket() of syscost/histogram.h, which this
/// folder may not include; a test compares the two.
__attribute__((always_inline)) inline std::uint32_t bucket_of(std::uint64_t ns) {
  if (ns < 8) return static_cast<std::uint32_t>(ns);
  if (ns >= 1ULL << 40) return kBuckets - 1;
  const std::uint32_t exponent = 63 - static_cast<std::uint32_t>(__builtin_clzll(ns));
  return (exponent - 2) * 8 + static_cast<std::uint32_t>((ns >> (exponent - 3)) & 7);
}

/// One instruction, so that neither a signal handler on this thread loses anything nor we; locked where other threads
/// write to the word too.
inline void add(std::uint64_t& word, std::uint64_t value, bool is_shared) {
  if (is_shared) {
    asm volatile("lock addq %1, %0" : "+m"(word) : "er"(value) : "cc");
  } else {
    asm volatile("addq %1, %0" : "+m"(word) : "er"(value) : "cc");
  }
}

/// Most of the time the bit is there.
inline void set_bit(std::uint64_t* words, std::uint32_t bit, bool is_shared) {
  std::uint64_t& word = words[bit / 64];
  const std::uint64_t mask = 1ULL << (bit % 64);
  if ((std::atomic_ref(word).load(std::memory_order_acquire) & mask) != 0) return;
  if (is_shared) {
    asm volatile("lock orq %1, %0" : "+m"(word) : "r"(mask) : "cc");
  } else {
    asm volatile("orq %1, %0" : "+m"(word) : "r"(mask) : "cc");
  }
}

/// Stores `value` when it is nearer the edge than the value there. Nearly always it is not.
template <class Nearer>
__attribute__((always_inline)) inline void move_edge(std::uint64_t& word, std::uint64_t value, Nearer is_nearer) {
  std::atomic_ref edge(word);
  std::uint64_t seen = edge.load(std::memory_order_relaxed);
  while (is_nearer(value, seen) && !edge.compare_exchange_weak(seen, value)) {
  }
}

struct Outcome {
  int error;
  bool has_latency;
  std::uint64_t latency_ns;
};

/// Adds a latency to a cell. Nearly always four single instructions.
__attribute__((always_inline)) inline void add_latency(Cell& cell, std::uint64_t ns, bool is_shared) {
  add(cell.buckets[bucket_of(ns)], 1, is_shared);
  add(cell.latency_sum_ns, ns, is_shared);
  move_edge(cell.latency_least, ns + 1,
            [](std::uint64_t fresh, std::uint64_t kept) { return kept == 0 || fresh < kept; });
  move_edge(cell.latency_max_ns, ns, [](std::uint64_t fresh, std::uint64_t kept) { return fresh > kept; });
}

/// The slot of the call's syscall; kSlots if none is left, kNotSelected if the call is not counted.
std::uint32_t slot_of(Directory& directory, const Call& call);

/// The slot of the call's syscall and kinds of files. Where none is left for these, that of the syscall.
std::uint32_t slot_of(Directory& directory, const Call& call, FileKinds kinds);

/// kErrorSlots if none is left.
std::uint32_t error_slot_of(Directory& directory, std::uint32_t slot, std::uint32_t error);

}  // namespace syscost::signal_safe
