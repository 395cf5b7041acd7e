// SPDX-License-Identifier: MIT
//
// What a thread keeps for rules of faults (faults.h): its own count of each, and room for a path (fault_files.cc). It
// is memory of the arena, taken when a rule first needs it.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/call.h"

namespace syscost::signal_safe {

inline constexpr std::uint32_t kFaultRules = 128;

/// The lowest 16 bits of the rule's generation << 48 | count
using FaultCount = std::uint64_t;
inline constexpr unsigned kGenerationAt = 48;
constexpr FaultCount first_count(std::uint64_t generation) {
  return generation << kGenerationAt;
}
constexpr bool is_count_of(FaultCount word, std::uint64_t generation) {
  return (word ^ first_count(generation)) >> kGenerationAt == 0;
}
constexpr std::uint64_t count_in(FaultCount word) {
  return word & ((std::uint64_t{1} << kGenerationAt) - 1);
}

struct FaultRoom {
  void* path;                       ///< fault_files.cc; null until a rule of a file asks. It begins with where.
  FaultCount matches[kFaultRules];  ///< Of this thread, by the rule's place; 0 = none yet.
};

/// Of the thread that makes the call. Null if the arena is used up.
FaultRoom* fault_room_of(const Guard& guard, Thread& thread);

/// The record has a new thread: it begins to count.
void clear_fault_room(Thread& thread);

/// The place has a new rule: each thread begins to count.
void clear_fault_place(std::uint32_t place, std::uint64_t generation);

}  // namespace syscost::signal_safe
