// SPDX-License-Identifier: MIT
//
// The stack of a call, by its number; the counts of each (syscall, stack); and which stack opened a descriptor, or
// started a thread or a child process.
//
// A thread keeps its last unwindings with the words that they read. A call from the same place, with the same words at
// the same addresses, has the same stack: comparing costs a tenth of unwinding. Otherwise the stack is unwound, and
// looked up among those that have a number.
#pragma once

#include <sys/syscall.h>

#include <atomic>
#include <cstdint>

#include "backends/dispatch/stub/common/call.h"
#include "backends/dispatch/stub/user_memory.h"
#include "extras/where/stub/common/where.h"

namespace syscost::signal_safe {

/// By it a thread finds the unwindings that it keeps.
struct CallPlace {
  std::uint64_t ip;
  std::uint64_t sp;
  std::uint64_t number;
};
inline CallPlace place_of_call(const Call& call) {
  return {call.return_address, call.stack_pointer, call.number};
}

inline std::uint32_t set_of(const CallPlace& place) {
  constexpr std::uint64_t kFactor = 0x9e37'79b9'7f4a'7c15;
  static_assert(kKeptSets == 1 << (64 - 59));
  return static_cast<std::uint32_t>(((place.ip ^ place.sp << 20 ^ place.number) * kFactor) >> 59);
}

/// True if an unwinding would read now the words that it read then. Each word tells where the next one is: so it stops
/// at the first that differs.
__attribute__((always_inline)) inline bool holds(const KeptUnwinding& kept, const CallPlace& place, std::uint64_t rbp) {
  if (kept.ip != place.ip || kept.sp != place.sp || kept.number != place.number) return false;
  const WhereState& where = syscost_where_state;
  if (kept.code_epoch != std::atomic_ref(const_cast<std::uint64_t&>(where.code_epoch)).load(std::memory_order_acquire))
    return false;
  if (kept.has_condition != 0) {
    if (kept.needs_rbp != 0 && kept.rbp != rbp) return false;
    const std::uint64_t memory_epoch =
        std::atomic_ref(const_cast<std::uint64_t&>(where.memory_epoch)).load(std::memory_order_acquire);
    if (kept.is_foreign != 0 && kept.memory_epoch != memory_epoch) return false;
  }
  static_assert(kWordsAtOnce == 4);
  const auto stands = [](const Word& word) { return read_at<std::uint64_t>(word.address) == word.value; };
  const Word* word = kept.word;
  for (std::uint32_t left = kept.groups; left != 0; --left, word += kWordsAtOnce) {
    if (!stands(word[0]) || !stands(word[1]) || !stands(word[2]) || !stands(word[3])) return false;
  }
  return true;
}

/// The call's stack, if its thread keeps an unwinding that holds: nothing that it read has changed. Else null. Reads
/// the caller's stack, which the call must have left in place: not after one that may_unmap(). Only in a recording that
/// interrupts no other one of this thread; only for a call by `syscall`.
__attribute__((always_inline)) inline KeptUnwinding* known_stack(const Call& call) {
  Walker* walker = call.thread->walker;
  if (walker == nullptr) return nullptr;
  const CallPlace place = place_of_call(call);
  for (KeptUnwinding& kept : walker->kept[set_of(place)]) {
    if (holds(kept, place, call.frame_pointer)) return &kept;
  }
  return nullptr;
}

/// The call's stack, kept by its thread; null where there is no memory, or the stack has no number. Only in a recording
/// that interrupts no other one of this thread.
KeptUnwinding* stack_of(const Guard& guard, const Call& call, std::uint32_t slot);

/// Where calls of `kept` count in the segment of `control`; null if there is no memory for one more.
Place* counting_place(const Guard& guard, Account& account, Control control, KeptUnwinding& kept);
/// The count of an error at `place`; null if there is no memory for one more.
std::uint64_t* error_of(Place& place, std::uint32_t error);

/// True for a call after which memory may be gone.
inline bool may_unmap(const Call& call) {
  constexpr std::uint64_t kBelow64 =
      1ULL << SYS_mmap | 1ULL << SYS_munmap | 1ULL << SYS_mprotect | 1ULL << SYS_mremap | 1ULL << SYS_shmat;
  static_assert(SYS_shmdt == 67);
  return call.number < 64 ? (kBelow64 >> call.number & 1) != 0 : call.number == SYS_shmdt;
}
/// After a call that succeeded: memory, and the code in it, may be gone.
void note_unmapping(const Call& call);

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): the stub's name
extern "C" {
/// Calls function(argument) with the stack pointer `top`, and stores what it was before.
void syscost_call_on_stack(void (*function)(void*), void* argument, void* top, std::uint64_t* before);
}
// NOLINTEND(readability-identifier-naming)

// Openers, for --syscost_leaks with --syscost_where.
//
// A table by the descriptor's number holds the stack of the call that opened it last. A call that closes the descriptor
// takes the stack out. So a descriptor that arrived in another way, for example in a message, has none. A list has the
// ids of threads and children; an id that the kernel gives again is found in its newest place.

namespace syscost::signal_safe {

/// After a call that succeeded; `stack` is its stack, 0 = unknown.
void note_descriptors(const Call& call, std::uint32_t stack);

/// The same, if anything is to be noted.
__attribute__((always_inline)) inline void note_openers(const Call& call, std::uint32_t stack) {
  if (syscost_where_state.openers != nullptr) [[unlikely]]
    note_descriptors(call, stack);
}

}  // namespace syscost::signal_safe
