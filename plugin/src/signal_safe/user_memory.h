// SPDX-License-Identifier: MIT
//
// The program's memory, at addresses that it passed to the kernel.
#pragma once

#include <cstdint>

namespace syscost::signal_safe {

/// False for addresses that the kernel would answer with EFAULT: it shall do so.
inline bool is_readable(std::uint64_t address) {
  return address >= 0x1'0000 && address < 1ULL << 47;
}

template <class T>
T read_at(std::uint64_t address) {
  T value;
  __builtin_memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}
template <class T>
void write_at(std::uint64_t address, T value) {
  __builtin_memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}

}  // namespace syscost::signal_safe
