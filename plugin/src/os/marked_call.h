// SPDX-License-Identifier: MIT
//
// syscall(2) with a mark in the sixth argument, by which a backend knows the call as ours. The kernel ignores the mark.
//
// The mark may not stay in the register of that argument: a call of fewer arguments does not set the register, so the
// program's next close() or exit_group() would be taken for ours, and not counted.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <type_traits>

#ifndef __x86_64__
#error "syscost knows x86-64 only"
#endif

namespace syscost {

namespace detail {
inline long word(const volatile void* pointer) {
  return reinterpret_cast<long>(pointer);
}
template <class Number, class = std::enable_if_t<std::is_integral_v<Number>>>
long word(Number number) {
  return static_cast<long>(number);
}
}  // namespace detail

/// Like syscall(2), errno included, for calls of at most five arguments. Signal-safe.
template <class... Arguments>
long marked_call(std::uint64_t mark, long number, Arguments... arguments) {
  static_assert(sizeof...(Arguments) <= 5);
  const long words[5 + 1] = {detail::word(arguments)...};
  const long result = syscall(number, words[0], words[1], words[2], words[3], words[4], mark);
  __asm__ volatile("xorl %%r9d, %%r9d" ::: "r9");
  return result;
}

}  // namespace syscost
