// SPDX-License-Identifier: MIT
#include "backends/dispatch/stub/fault_bytes.h"

#include <sys/syscall.h>

#include "backends/dispatch/stub/bytes.h"
#include "backends/dispatch/stub/user_memory.h"

namespace syscost::signal_safe {
namespace {

syscost_byte_source source_of(const Call& call) {
  return call.abi == 0 ? byte_source_of(call.number) : SYSCOST_BYTES_NONE;
}

/// The argument that is the size; null if none is.
std::uint64_t* size_in(Call& call) {
  switch (source_of(call)) {
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

/// True if argument 2 is a list of stretches, and argument 3 their number.
bool has_stretches(std::uint64_t number) {
  switch (number) {
    case SYS_readv:
    case SYS_writev:
    case SYS_preadv:
    case SYS_pwritev:
    case SYS_preadv2:
    case SYS_pwritev2:
    case SYS_vmsplice:
      return true;
    default:
      return false;
  }
}

/// The kernel's iovec.
struct Stretch {
  std::uint64_t address;
  std::uint64_t bytes;
};

/// The kernel refuses a call with another size, and with a stretch that ends beyond the program's half of the memory.
constexpr std::uint64_t kMostBytes = ~std::uint64_t{0} >> 1;

bool is_possible(const Stretch& stretch) {
  return stretch.bytes <= kMostBytes && stretch.address <= kMostBytes - stretch.bytes;
}

bool shorten_stretches(Call& call, std::uint64_t most) {
  const std::uint64_t count = call.used.rdx;
  constexpr std::uint64_t kMostStretches = 1024;  // the kernel's
  if (count == 0 || count > kMostStretches || !is_readable(call.used.rsi, count * sizeof(Stretch))) return false;
  std::uint64_t bytes = 0;
  std::uint64_t whole = 0;  // the stretches that remain as they are
  bool is_full = false;
  Stretch cut{};
  // The kernel looks at all before it moves a byte.
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto stretch = read_at<Stretch>(call.used.rsi + i * sizeof(Stretch));
    if (!is_possible(stretch)) return false;
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

bool moves_bytes(const Call& call) {
  const syscost_byte_source source = source_of(call);
  return source >= SYSCOST_BYTES_RESULT && source <= SYSCOST_BYTES_SIZE_5;
}

bool shorten(Call& call, std::uint64_t most) {
  if (std::uint64_t* const size = size_in(call)) {
    if (*size <= most || *size > kMostBytes) return false;
    *size = most;
    return true;
  }
  return call.abi == 0 && has_stretches(call.number) && shorten_stretches(call, most);
}

}  // namespace syscost::signal_safe
