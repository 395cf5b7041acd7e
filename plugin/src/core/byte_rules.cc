// SPDX-License-Identifier: MIT
#include "core/bytes.h"

#include <algorithm>
#include <array>
#include <utility>

namespace syscost {
namespace {

struct Entry {
  std::uint64_t syscall;  // abi << 32 | number
  ByteRule rule;
};

// NOLINTBEGIN(readability-identifier-naming): the words of the table
constexpr auto NONE = ByteWay::none;
constexpr auto READS = ByteWay::reads;
constexpr auto WRITES = ByteWay::writes;
constexpr auto BOTH = ByteWay::both;
constexpr auto MAPS = ByteWay::maps;
constexpr auto UNMAPS = ByteWay::unmaps;
constexpr auto UNKNOWN = ByteWay::unknown;
// NOLINTEND(readability-identifier-naming)

constexpr std::uint64_t key_of(std::uint64_t abi, std::uint64_t number) {
  return abi << 32U | number;
}

/// Ascending.
constexpr Entry kEntries[] = {
#define SYSCOST_BYTES(abi, number, way, source, files) {key_of(abi, number), {way, SYSCOST_BYTES_##source}},
#include "core/tables/bytes_moved.inc"
#undef SYSCOST_BYTES
};

}  // namespace

ByteRule byte_rule(SyscallId id) {
  const std::uint64_t key = key_of(static_cast<std::uint64_t>(id.abi), id.number);
  const auto* const at =
      std::lower_bound(std::begin(kEntries), std::end(kEntries), key,
                       [](const Entry& entry, std::uint64_t other) { return entry.syscall < other; });
  return at != std::end(kEntries) && at->syscall == key ? at->rule : ByteRule();
}

}  // namespace syscost
