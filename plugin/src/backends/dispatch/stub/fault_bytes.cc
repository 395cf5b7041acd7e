// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/fault_bytes.h"

#include "backends/dispatch/stub/bytes.h"
#include "backends/dispatch/stub/user_memory.h"
#include "core/tables/stretches.h"

namespace syscost::signal_safe {
namespace {

/// The argument that is the size; null if none is.
std::uint64_t* size_in(Call& call) {
  switch (byte_source_of(call.number)) {
    case SYSCOST_BYTES_SIZE_2:
      return &call.used.rsi;
    case SYSCOST_BYTES_SIZE_3:
      return &call.used.rdx;
    case SYSCOST_BYTES_SIZE_4:
      return &call.used.r10;
    case SYSCOST_BYTES_SIZE_5:
      return &call.used.r8;
    default:
      return nullptr;
  }
}

/// The kernel refuses a call with another size, and with a stretch that ends beyond the program's half of the memory.
constexpr std::uint64_t kMostBytes = ~std::uint64_t{0} >> 1;

bool is_possible(const Stretch& stretch) {
  return stretch.bytes <= kMostBytes && stretch.address <= kMostBytes - stretch.bytes;
}

constexpr std::uint64_t kMostStretches = 1024;  // the kernel's

bool shorten_stretches(Call& call, std::uint64_t most) {
  const std::uint64_t count = call.used.rdx;
  if (count == 0 || count > kMostStretches) return false;
  UserBytes memory;
  std::uint64_t bytes = 0;
  std::uint64_t whole = 0;  // the stretches that remain as they are
  bool is_full = false;
  Stretch cut{};
  // The kernel looks at all before it moves a byte.
  for (std::uint64_t i = 0; i < count; ++i) {
    Stretch stretch{};
    if (!memory.read(call.used.rsi + i * sizeof stretch, stretch) || !is_possible(stretch)) return false;
    if (i == whole && bytes == 0) cut = stretch;
    is_full = is_full || stretch.bytes > most - bytes;
    if (is_full) continue;
    bytes += stretch.bytes;
    whole = i + 1;
  }
  if (!is_full) return false;
  if (bytes > 0) {
    call.used.rdx = whole;
    return true;
  }
  call.adapted.vector[0] = cut.address;
  call.adapted.vector[1] = most;
  call.used.rsi = reinterpret_cast<std::uint64_t>(call.adapted.vector);
  call.used.rdx = 1;
  return true;
}

}  // namespace

bool moves_bytes(std::uint64_t number) {
  const syscost_byte_source source = byte_source_of(number);
  return source >= SYSCOST_BYTES_RESULT && source <= SYSCOST_BYTES_SIZE_5;
}

bool asks_for_nothing(const Call& call) {
  Call& same = const_cast<Call&>(call);
  if (const std::uint64_t* const size = size_in(same)) return *size == 0;
  if (!has_stretches(call.number)) return false;
  if (call.used.rdx > kMostStretches) return false;
  UserBytes memory;
  for (std::uint64_t i = 0; i < call.used.rdx; ++i) {
    Stretch stretch{};
    if (!memory.read(call.used.rsi + i * sizeof stretch, stretch) || stretch.bytes != 0) return false;
  }
  return true;
}

bool shorten(Call& call, std::uint64_t most) {
  if (std::uint64_t* const size = size_in(call)) {
    if (*size <= most || *size > kMostBytes) return false;
    *size = most;
    return true;
  }
  return has_stretches(call.number) && shorten_stretches(call, most);
}

}  // namespace syscost::signal_safe
