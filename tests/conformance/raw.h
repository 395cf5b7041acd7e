// SPDX-License-Identifier: MIT
//
// Syscalls without libc: what a case's body makes is exactly what its text says.
//
// libc may retry, cache, cancel, or answer from the vDSO; a suite that promises exact numbers must not depend on its
// version. These functions are one `syscall` instruction each, leave errno alone and return what the kernel returned
// (negative = -errno).
#pragma once

#include <sys/syscall.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <type_traits>

namespace conformance {

template <class T>
inline long register_value(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<long>(value);
  } else if constexpr (std::is_null_pointer_v<T>) {
    return 0;
  } else {
    return static_cast<long>(value);
  }
}

/// Up to six arguments, integers or pointers; returns the value in rax.
template <class... Args>
inline long raw(long number, Args... args) {
  static_assert(sizeof...(Args) <= 6);
  const std::array<long, sizeof...(Args) + 6> values = {register_value(args)...};
  register long r10 asm("r10") = values[3];
  register long r8 asm("r8") = values[4];
  register long r9 asm("r9") = values[5];
  long result = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "0"(number), "D"(values[0]), "S"(values[1]), "d"(values[2]), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

/// Makes the same call `times` times; true when it always returned `expected`.
template <class... Args>
inline bool repeat_raw(int times, long expected, long number, Args... args) {
  bool same = true;
  for (int i = 0; i < times; ++i) same = (raw(number, args...) == expected) && same;
  return same;
}

/// Waits for a condition with memory reads only: a futex would be a syscall of the window. Handshakes at the edges of
/// windows are made of these.
template <class Condition>
inline void spin_until(Condition condition) {
  while (!condition()) __builtin_ia32_pause();
}

/// A thread made by clone alone: no libc inside, hence no syscall that its function does not make. It ends with one
/// `exit`. It borrows the TLS of the thread that starts it, so `body` may use raw() and atomics and nothing else.
class RawThread {
 public:
  RawThread();
  ~RawThread();
  RawThread(const RawThread&) = delete;
  RawThread& operator=(const RawThread&) = delete;

  /// One `clone`. The object can be started again once gone() is true.
  bool start(void (*body)(void*), void* argument);
  /// The kernel has taken the thread off this address space: it entered `exit` and will run nothing more.
  bool gone() const { return tid_.load(std::memory_order_acquire) == 0; }
  int tid() const { return started_; }

 private:
  static constexpr std::size_t kStackBytes = std::size_t{64} * 1024;
  void* stack_ = nullptr;
  std::atomic<int> tid_{0};  // cleared by the kernel: CLONE_CHILD_CLEARTID
  int started_ = 0;
};

}  // namespace conformance
