// SPDX-License-Identifier: MIT
//
// The program's memory, at addresses that it passed to the kernel.
#pragma once

#include <errno.h>
#include <sys/syscall.h>

#include <cstdint>
#include <initializer_list>

#include "backends/dispatch/stub/raw.h"

namespace syscost::signal_safe {

/// False for addresses that the kernel would answer with EFAULT: it shall do so. Asks the kernel, by a call that reads
/// the address and does nothing else, unless the place is on the page of the caller's stack. `bytes` is at least 8.
inline bool is_readable(std::uint64_t address, std::uint64_t bytes) {
  if (address < 0x1'0000 || address >= (1ULL << 47) - bytes) return false;
  constexpr std::uint64_t kPageMask = ~std::uint64_t{4095};
  const std::uint64_t page = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)) & kPageMask;
  if ((address & kPageMask) == page && ((address + bytes - 1) & kPageMask) == page) return true;
  constexpr long kNoWay = -1;  // of changing a mask: EINVAL, after the mask was read
  constexpr std::uint64_t kRead = 8;
  for (std::uint64_t at : {address, address + bytes - kRead}) {
    if (syscost_raw_syscall(SYS_rt_sigprocmask, kNoWay, static_cast<long>(at), 0, kRead) == -EFAULT) return false;
  }
  return true;
}

template <class T>
T read_at(std::uint64_t address) {
  T value;
  // NOLINTNEXTLINE(bugprone-sizeof-expression): a pointer is a value, too
  __builtin_memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}
template <class T>
void write_at(std::uint64_t address, T value) {
  __builtin_memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}

/// By one instruction: nothing here may call memcpy.
inline void copy_bytes(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

}  // namespace syscost::signal_safe
