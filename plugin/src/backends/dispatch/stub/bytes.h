// SPDX-License-Identifier: MIT
//
// How many bytes a call moved or mapped, and whether it opened a file of the kernel. A table says for each syscall
// where the number comes from.
//
// A cell's mark holds that source, so the common call, which has none, costs one comparison of what was read anyway.
// Arguments are known of the native ABI only: of others a length is not counted.
#pragma once

#include <cstdint>

#include "backends/dispatch/stub/cells.h"
#include "backends/dispatch/stub/common/call.h"
#include "backends/dispatch/stub/user_memory.h"
#include "core/tables/byte_sources.h"

namespace syscost::signal_safe {

/// As a cell's mark: it is marked, and its calls have no bytes.
inline constexpr std::uint64_t kPlainMark = 1;
constexpr std::uint64_t mark_of(syscost_byte_source source) {
  return kPlainMark + source;
}
constexpr syscost_byte_source source_of_mark(std::uint64_t mark) {
  return static_cast<syscost_byte_source>(mark - kPlainMark);
}

/// `syscall`: in the form of Directory::syscall_of.
syscost_byte_source byte_source_of(std::uint64_t syscall);

/// `second`: 1 for a short call, or the bytes that were released. Of an open, `bytes` is 1 with O_SYNC, and `second` is
/// 1 for a file of the kernel.
struct ByteCount {
  std::uint64_t bytes = 0;
  std::uint64_t second = 0;
};

__attribute__((always_inline)) inline ByteCount growth_of(std::uint64_t from, std::uint64_t to) {
  return to >= from ? ByteCount{to - from, 0} : ByteCount{0, from - to};
}

inline ByteCount opened(std::uint64_t path, std::uint64_t flags) {
  const bool reads = (flags & SYSCOST_OPEN_MODE) != SYSCOST_OPEN_TO_WRITE;
  return {SYSCOST_SYNCS_WRITES(flags) ? 1U : 0U, reads && may_name_kernel_file(path) ? 1U : 0U};
}

/// The numbers of a call that succeeded.
inline ByteCount bytes_of(syscost_byte_source source, const Call& call) {
  const auto moved = [&](std::uint64_t asked) { return ByteCount{call.result, call.result < asked ? 1U : 0U}; };
  switch (source) {
    case SYSCOST_BYTES_RESULT:
      return {call.result, 0};
    case SYSCOST_BYTES_SIZE_3:
      return moved(call.given.rdx);
    case SYSCOST_BYTES_SIZE_2:
      return moved(call.given.rsi);
    case SYSCOST_BYTES_SIZE_4:
      return moved(call.given.r10);
    case SYSCOST_BYTES_SIZE_5:
      return moved(call.given.r8);
    case SYSCOST_BYTES_OPENS_1:
      return opened(call.given.rdi, call.given.rsi);
    case SYSCOST_BYTES_OPENS_2:
      return opened(call.given.rsi, call.given.rdx);
    case SYSCOST_BYTES_OPENS_HOW:
      return opened(call.given.rsi, 0);
    case SYSCOST_BYTES_LENGTH:
      return {SYSCOST_WHOLE_PAGES(call.given.rsi), 0};
    case SYSCOST_BYTES_RELEASE:
      return {0, SYSCOST_WHOLE_PAGES(call.given.rsi)};
    case SYSCOST_BYTES_REMAP: {
      const bool keeps_old = (call.given.r10 & SYSCOST_REMAP_KEEPS_OLD) != 0;
      return growth_of(keeps_old ? 0 : SYSCOST_WHOLE_PAGES(call.given.rsi), SYSCOST_WHOLE_PAGES(call.given.rdx));
    }
    case SYSCOST_BYTES_BREAK:
      return growth_of(SYSCOST_WHOLE_PAGES(call.note), SYSCOST_WHOLE_PAGES(call.result));
    default:
      return {};
  }
}

/// munmap alone does not.
constexpr bool maps_memory(syscost_byte_source source) {
  return source >= SYSCOST_BYTES_LENGTH && source != SYSCOST_BYTES_RELEASE;
}

/// Adds them to the cell of a call that succeeded.
inline void count_bytes(Cell& cell, syscost_byte_source source, const Call& call, bool is_shared) {
  if (source == SYSCOST_BYTES_NONE) return;
  const ByteCount count = bytes_of(source, call);
  if (count.bytes != 0) add(cell.bytes, count.bytes, is_shared);
  if (count.second != 0) add(cell.bytes_second, count.second, is_shared);
  if (maps_memory(source)) note_mapped();
}

}  // namespace syscost::signal_safe
