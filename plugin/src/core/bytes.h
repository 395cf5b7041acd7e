// SPDX-License-Identifier: MIT
//
// Bytes: how many bytes each syscall moves by its rule, and which of these numbers are known. An unknown number is
// empty, never 0.
//
// byte_rules.cc holds the table of the rules. It is generated with those of names and classes
// (tools/gen_syscall_table.py). docs/csv-format.md says what the numbers mean.
#pragma once

#include <cstdint>
#include <optional>

#include "core/syscall_id.h"
#include "core/tables/byte_sources.h"
#include "core/tally.h"

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
  /// It opens a file by its path.
  bool opens() const { return source >= SYSCOST_BYTES_OPENS_1 && source <= SYSCOST_BYTES_OPENS_HOW; }
  bool maps() const { return way == ByteWay::maps || way == ByteWay::unmaps; }
  /// The size that was asked for is an argument.
  bool has_size() const { return source >= SYSCOST_BYTES_SIZE_2 && source <= SYSCOST_BYTES_SIZE_5; }
  /// mremap and brk may do both: map and unmap.
  bool may_map() const { return way == ByteWay::maps; }
  bool may_unmap() const {
    return way == ByteWay::unmaps || source == SYSCOST_BYTES_REMAP || source == SYSCOST_BYTES_BREAK;
  }
};

/// How much a backend knows of the bytes of calls.
enum class BytesKnown : std::uint8_t {
  none,                 ///< It sees no results.
  but_foreign_lengths,  ///< It sees results, and arguments of the native ABI's calls.
  all,
};

/// Pure, thread-safe, no allocation.
ByteRule byte_rule(SyscallId id);

/// The numbers of one syscall beside its calls. Empty if the syscall has no such number, or if the backend does not
/// know it.
struct ByteNumbers {
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> released;
  std::optional<std::uint64_t> short_calls;
  std::optional<std::uint64_t> kernel_files;
  std::optional<std::uint64_t> sync_opens;
};
/// The syscall has bytes, and nothing says how many.
inline bool has_unknown_bytes(SyscallId id) {
  const ByteRule rule = byte_rule(id);
  return rule.way != ByteWay::none && rule.source == SYSCOST_BYTES_NONE;
}
ByteNumbers byte_numbers(SyscallId id, const Tally& tally, BytesKnown known);

/// The sums of a table. A total is empty if a number that belongs to it is unknown.
struct ByteTotals {
  std::optional<std::uint64_t> read;
  std::optional<std::uint64_t> written;
  std::optional<std::uint64_t> mapped;
  std::optional<std::uint64_t> unmapped;
};
ByteTotals byte_totals(const CallTable& table, BytesKnown known);

}  // namespace syscost
