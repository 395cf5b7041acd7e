// SPDX-License-Identifier: MIT
//
// From the two numbers that a cell has for bytes to those of a Tally or a Crossing.
#pragma once

#include <cstdint>

#include "core/backend.h"
#include "core/byte_rules.h"
#include "core/tally.h"

namespace syscost {

/// `second`: bytes that were released, of a syscall that maps; else how many calls were short.
inline void add_bytes(Tally& into, SyscallId id, std::uint64_t bytes, std::uint64_t second) {
  if ((bytes | second) == 0) return;
  into.bytes += bytes;
  (byte_rule(id).maps() ? into.bytes_released : into.short_calls) += second;
}

/// Of a crossing with its `id`.
inline void add_bytes(Crossing& into, std::uint64_t bytes, std::uint64_t second) {
  into.bytes = bytes;
  if (byte_rule(into.id).maps()) {
    into.bytes_released = second;
  } else {
    into.is_short = second != 0;
  }
}

}  // namespace syscost
