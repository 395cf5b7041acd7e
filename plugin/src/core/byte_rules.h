// SPDX-License-Identifier: MIT
//
// ByteRule: what the bytes of a syscall are.
//
// The table is generated with those of names and classes (tools/gen_syscall_table.py). docs/csv-format.md says what the
// numbers mean.
#pragma once

#include <cstdint>

#include "core/syscall_id.h"
#include "core/tables/byte_sources.h"

namespace syscost {

/// Where the bytes of a call go.
enum class ByteWay : std::uint8_t {
  none,    ///< It has none.
  reads,   ///< To the program.
  writes,  ///< From the program.
  both,    ///< From one descriptor to another.
  maps,
  unmaps,
  unknown,  ///< It moves data, and nothing says how much.
};

struct ByteRule {
  ByteWay way = ByteWay::none;
  syscost_byte_source source = SYSCOST_BYTES_NONE;

  bool moves() const { return way == ByteWay::reads || way == ByteWay::writes || way == ByteWay::both; }
  bool maps() const { return way == ByteWay::maps || way == ByteWay::unmaps; }
  /// The size that was asked for is an argument.
  bool has_size() const { return source >= SYSCOST_BYTES_SIZE_2 && source <= SYSCOST_BYTES_SIZE_5; }
  /// mremap and brk may do both: map and unmap.
  bool may_map() const { return way == ByteWay::maps; }
  bool may_unmap() const {
    return way == ByteWay::unmaps || source == SYSCOST_BYTES_REMAP || source == SYSCOST_BYTES_BREAK;
  }
};

/// What a backend knows of the bytes of calls.
enum class BytesKnown : std::uint8_t {
  none,                 ///< It sees no results.
  but_foreign_lengths,  ///< It sees results, and arguments of the native ABI's calls.
  all,
};

/// Pure, thread-safe, no allocation.
ByteRule byte_rule(SyscallId id);

}  // namespace syscost
