// SPDX-License-Identifier: MIT
//
// Calls that met a rule, for people: the first ones of a rule are kept, with their arguments, paths and stacks.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/call.h"

namespace syscost::signal_safe {

inline constexpr std::uint32_t kKeptHits = 16;    ///< Of a rule; later ones are only counted.
inline constexpr std::uint32_t kHitKeepers = 16;  ///< Rules that may keep hits at a time.
inline constexpr std::uint32_t kHitPaths = 2;     ///< Of a call: no more are kept.
inline constexpr std::uint32_t kHitPathBytes = 250;

/// A path among the arguments.
struct HitPath {
  std::uint8_t is_kept;
  std::uint8_t argument;
  std::uint8_t is_cut;
  std::uint8_t bytes;
  char text[kHitPathBytes];
};

struct FaultHit {
  std::uint64_t ready;  ///< The rule's generation, written last; another one = nothing is kept here.
  std::uint64_t number;
  std::uint64_t arguments[6];
  std::int64_t result;  ///< If it was answered.
  std::uint32_t is_answered;
  std::uint32_t thread;  ///< The kernel's id.
  std::uint32_t stack;   ///< CallDetail::stack; 0 = unknown.
  HitPath path[kHitPaths];
};

/// Makes no call but the one by which is_readable() asks. `is_answered`: by the rule, or by one that was asked before.
void keep_hit(const Guard& guard, FaultHit& hit, std::uint64_t generation, const Call& call, bool is_answered);

}  // namespace syscost::signal_safe
