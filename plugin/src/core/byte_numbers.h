// SPDX-License-Identifier: MIT
//
// ByteNumbers, ByteTotals: which of the bytes in a Tally, and in a table, are known. What is not is empty: never 0.
#pragma once

#include <cstdint>
#include <optional>

#include "core/byte_rules.h"
#include "core/tally.h"

namespace syscost {

/// Of one syscall. Empty if the syscall has no such number, or if the backend does not know it.
struct ByteNumbers {
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> released;
  std::optional<std::uint64_t> short_calls;
};
/// The syscall has bytes, and nothing says how many.
inline bool has_unknown_bytes(SyscallId id) {
  const ByteRule rule = byte_rule(id);
  return rule.way != ByteWay::none && rule.source == SYSCOST_BYTES_NONE;
}
ByteNumbers byte_numbers(SyscallId id, const Tally& tally, BytesKnown known);

/// Of a table. A total is empty if a number that belongs to it is unknown.
struct ByteTotals {
  std::optional<std::uint64_t> read;
  std::optional<std::uint64_t> written;
  std::optional<std::uint64_t> mapped;
  std::optional<std::uint64_t> unmapped;
};
ByteTotals byte_totals(const CallTable& table, BytesKnown known);

}  // namespace syscost
