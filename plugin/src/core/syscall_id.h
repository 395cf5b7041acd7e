// SPDX-License-Identifier: MIT
//
// SyscallId: which syscall, said without doubt.
//
// A number alone does not name a syscall: 4 is `stat` for a 64-bit call on x86-64, `write` through int 0x80, and
// number 520 exists for x32 only. A process may mix these in one window, so the ABI travels with the number.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/call_detail.h"

namespace syscost {

/// Which of the kernel's tables a number belongs to. Another architecture adds its name here and a table beside
/// syscall_table_x86_64.inc.
enum class Abi : std::uint8_t {
  x86_64 = 0,
  i386 = 1,  ///< int 0x80 and sysenter, also from 64-bit code.
  x32 = 2,   ///< 64-bit entry with __X32_SYSCALL_BIT set.
};
inline constexpr std::size_t kAbiCount = 3;
/// The ABI of the names without a prefix.
inline constexpr Abi kNativeAbi = Abi::x86_64;

struct SyscallId {
  Abi abi = Abi::x86_64;
  std::uint32_t number = 0;  ///< For x32 without __X32_SYSCALL_BIT.
  CallDetail detail = {};    ///< Empty unless details were requested.

  /// The syscall as such.
  constexpr SyscallId without_detail() const { return {abi, number}; }

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 within a defaulted <=> for ours
  friend constexpr auto operator<=>(const SyscallId&, const SyscallId&) = default;
};

/// A number so large that no table can ever hold it; prints as `unknown`. Everything of that kind is counted together.
inline constexpr SyscallId kUnknownSyscall{Abi::x86_64, 0xffff'ffffU};

/// The syscall of x86-64's 64-bit entry (the `syscall` instruction), from the value of rax.
constexpr SyscallId syscall_id_x86_64(std::uint64_t raw) {
  constexpr std::uint64_t kX32Bit = 0x4000'0000U;
  if (raw < kX32Bit) return {Abi::x86_64, static_cast<std::uint32_t>(raw)};
  if (raw < 2 * kX32Bit) return {Abi::x32, static_cast<std::uint32_t>(raw - kX32Bit)};
  return kUnknownSyscall;
}

}  // namespace syscost

template <>
struct std::hash<syscost::SyscallId> {
  std::size_t operator()(const syscost::SyscallId& id) const noexcept {
    return std::hash<std::uint64_t>{}(std::uint64_t{static_cast<std::uint8_t>(id.abi)} << 32 | id.number);
  }
};
