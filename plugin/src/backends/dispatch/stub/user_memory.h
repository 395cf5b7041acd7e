// SPDX-License-Identifier: MIT
//
// The program's memory, at addresses that it passed to the kernel, or that its data names; and how much of it is
// mapped.
//
// Another thread may unmap or protect such memory at any time, also between a question and the next instruction. So
// copy_in() and copy_out() let the kernel copy, where that may be (may_copy_by_kernel); is_readable() only says what is
// true now.
#pragma once

#include <errno.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "backends/dispatch/stub/common/raw.h"

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

/// Fills it with zeros. By one instruction, too: for `= {}` of something large a compiler may call memset.
template <class T>
void clear(T& object) {
  static_assert(std::is_trivially_copyable_v<T>);
  void* to = &object;
  std::size_t bytes = sizeof object;
  asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(0) : "memory");
}

/// From now on copy_in() and copy_out() may call process_vm_writev and process_vm_readv: no seccomp filter kills for
/// them. A filter that the program installs later ends that (trace.h).
void may_copy_by_kernel(bool may);

/// Copies [from, from + bytes) of the program into memory of ours, or the other way round. False where the kernel would
/// answer EFAULT; then a part may have been copied. `by_kernel_alone`: false, too, where the kernel cannot copy and the
/// memory might go meanwhile.
bool copy_in(void* to, std::uint64_t from, std::uint64_t bytes, bool by_kernel_alone = false);
bool copy_out(std::uint64_t to, const void* from, std::uint64_t bytes);

/// After an open of `path` that succeeded: true if it begins with /proc/ or /sys/. True, too, where it cannot be read
/// by the kernel: if it changes, or a filter may kill for it.
bool may_name_kernel_file(std::uint64_t path);

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

// The most memory that the process has mapped, where the backend asks for it: the kernel is asked after each counted
// call that maps memory.
//
// The arguments of calls do not say it: MAP_FIXED replaces mappings, and munmap may be called for memory that is not
// mapped. The kernel's own number stands in /proc/self/statm. Reading it is a call that the program does not make, so
// it is made only while no seccomp filter may kill the process for it: who sets `statm` knows that.

struct MostMapped {
  int statm;                 ///< Descriptor of /proc/self/statm; -1: nothing is asked. Set between windows.
  std::uint64_t most_pages;  ///< Since the window began; 0 = no counted call mapped memory.
  std::uint64_t unknown;     ///< Not 0: the kernel was not asked each time, or did not answer.
};

}  // namespace syscost::signal_safe

// NOLINTBEGIN(readability-identifier-naming): beside the stub's
extern "C" {
extern syscost::signal_safe::MostMapped syscost_most_mapped;
}
// NOLINTEND(readability-identifier-naming)

namespace syscost::signal_safe {

/// Asks the kernel.
void note_mapped_pages();

/// From now on the kernel is not asked. True if it was, until now: then the caller waits (wait_for_calls_of_ours()).
bool stop_noting_mapped();

/// After a counted call that has mapped memory, or may have.
__attribute__((always_inline)) inline void note_mapped() {
  if (std::atomic_ref(syscost_most_mapped.statm).load(std::memory_order_relaxed) >= 0) [[unlikely]]
    note_mapped_pages();
}

}  // namespace syscost::signal_safe
