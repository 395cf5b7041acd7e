// SPDX-License-Identifier: MIT
//
// The program's memory, at addresses that it passed to the kernel, or that its data names.
//
// Another thread may unmap or protect such memory at any time, also between a question and the next instruction. So
// copy_in() and copy_out() let the kernel copy, where that may be (may_copy_by_kernel); is_readable() only says what is
// true now.
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

/// From now on copy_in() and copy_out() may call process_vm_writev and process_vm_readv: no seccomp filter kills for
/// them. A filter that the program installs later ends that (trace_strings.h).
void may_copy_by_kernel(bool may);

/// Copies [from, from + bytes) of the program into memory of ours, or the other way round. False where the kernel would
/// answer EFAULT; then a part may have been copied.
bool copy_in(void* to, std::uint64_t from, std::uint64_t bytes);
bool copy_out(std::uint64_t to, const void* from, std::uint64_t bytes);

template <class T>
bool read_user(std::uint64_t address, T& into) {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): a pointer is a value, too
  return copy_in(&into, address, sizeof into);
}
template <class T>
bool write_user(std::uint64_t address, const T& value) {
  return copy_out(address, &value, sizeof value);
}

/// Reads the program's memory byte by byte: text, lists, tables. Holds a copy of the block that was read last.
class UserBytes {
 public:
  /// False where there is nothing to read.
  bool byte_at(std::uint64_t address, unsigned char& value) {
    const std::uint64_t block = address & ~(kBlock - 1);
    if (block != held_) {
      held_ = kNone;
      if (!copy_in(bytes_, block, kBlock)) return false;
      held_ = block;
    }
    value = bytes_[address - block];
    return true;
  }
  template <class T>
  bool read(std::uint64_t address, T& into) {
    unsigned char bytes[sizeof into];
    for (std::uint64_t i = 0; i < sizeof into; ++i) {
      if (!byte_at(address + i, bytes[i])) return false;
    }
    into = read_at<T>(reinterpret_cast<std::uint64_t>(bytes));
    return true;
  }

 private:
  static constexpr std::uint64_t kBlock = 64;  // of one page
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  std::uint64_t held_ = kNone;
  unsigned char bytes_[kBlock];
};

/// The kernel's iovec.
struct Stretch {
  std::uint64_t address;
  std::uint64_t bytes;
};

}  // namespace syscost::signal_safe
